// A forest of groups, such as regions or loops, with the items of each tree as one slice of one array.
#pragma once

#include "support/table.h"

namespace depyf {

// `Group` and `Item` are the types of the indices of groups and items.
template <class Group, class Item>
class Forest {
 public:
  Forest() = default;
  // `parent_of(group)` returns the parent of each of the groups from 0 to `count` - 1, or -1 for a root. The function
  // `of` returns the items of one group in the order of `items`. `group_of(item)` returns the group of an item, or -1
  // if the item is in no group.
  template <class ParentOf, class Items, class GroupOf>
  Forest(std::size_t count, ParentOf parent_of, const Items& items, GroupOf group_of) : places_(count) {
    int first_root = -1;
    for (int group = int(count); group--;) {
      const int parent = parent_of(Group(group));
      int& first = parent < 0 ? first_root : places_[parent].first_child;
      places_[group].parent = parent, places_[group].sibling = first, first = group;
    }
    // First, `next` counts the items of the group itself. Later, `next` is the index in `items_` to which the next item
    // of the group is written.
    for (const Item item : items)
      if (const int group = group_of(item); group >= 0) ++places_[group].next;
    int total = 0;
    for (int group = first_root; group >= 0;) {
      Place& place = places_[group];
      place.begin = total, total += place.next, place.next = place.begin;
      if (place.first_child >= 0) {
        group = place.first_child;
        continue;
      }
      while (group >= 0) {
        places_[group].end = total;
        if (places_[group].sibling >= 0) {
          group = places_[group].sibling;
          break;
        }
        group = places_[group].parent;
      }
    }
    items_.resize(total);
    for (const Item item : items)
      if (const int group = group_of(item); group >= 0) items_[places_[group].next++] = item;
  }

  // Returns the items of `group` and of all groups below it. The items of one group have the order that they had in the
  // argument `items` of the constructor.
  Row<const Item> of(Group group) const {
    const Place& place = places_[group];
    return Row<const Item>(items_).part(place.begin, place.end - place.begin);
  }

 private:
  // The neighbours of a group in its tree, and the range [begin, end) of `items_` with the items of the group and of
  // all groups below it.
  struct Place {
    int parent = -1, first_child = -1, sibling = -1;
    int begin = 0, end = 0, next = 0;
  };

  Table<Item> items_;
  Table<Place, Group> places_;
};

}  // namespace depyf
