// A forest of groups, such as regions or loops, with the items of each tree as one slice of one array.
#pragma once

#include "support/table.h"

namespace depyf {

// `Group` and `Item` are the types that number the groups and the items.
template <class Group, class Item>
class Forest {
 public:
  Forest() = default;
  // `parents` contains the parent of each group, or -1 for a root. The function `of` returns the items of one group in
  // the order of `items`. `group_of(item)` returns the group of an item, or -1.
  template <class Items, class GroupOf>
  Forest(Row<const Group> parents, const Items& items, GroupOf group_of)
      : begin_(parents.size()), end_(parents.size()) {
    const int count = int(parents.size());
    Table<int> first_child(count + 1, -1), sibling(count, -1);  // the last entry of `first_child` is for the roots
    for (int group = count; group--;) {
      int& first = first_child[parents[group] < 0 ? Group(count) : parents[group]];
      sibling[group] = first, first = group;
    }
    Table<int> size(count);
    for (const Item item : items)
      if (const Group group = group_of(item); group >= 0) ++size[group];
    Table<int> at(count);  // for each group: the position of its next own item
    int total = 0;
    for (int group = first_child[count]; group >= 0;) {
      begin_[group] = at[group] = total;
      total += size[group];
      if (first_child[group] >= 0) {
        group = first_child[group];
        continue;
      }
      while (group >= 0) {
        end_[group] = total;
        if (sibling[group] >= 0) {
          group = sibling[group];
          break;
        }
        group = parents[group];
      }
    }
    items_.resize(total);
    for (const Item item : items)
      if (const Group group = group_of(item); group >= 0) items_[at[group]++] = item;
  }

  // Returns the items of `group` and of all groups below it. The items of one group keep the order in which they were
  // given.
  Row<const Item> of(Group group) const {
    return Row<const Item>(items_).part(begin_[group], end_[group] - begin_[group]);
  }

 private:
  Table<Item> items_;
  Table<int, Group> begin_, end_;
};

}  // namespace depyf
