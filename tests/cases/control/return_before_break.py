# depyf-case: versions 3.11-
def first(rows, wanted):
    for row in rows:
        for item in row:
            if item is wanted:
                if row:
                    return item
                break
            if item is None:
                row.append(item)
                return None
        rows.remove(row)
    return rows
