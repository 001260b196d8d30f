def divide(segments, cut, cuts, pending):
    for segment in segments:
        while segment:
            if segment == cut:
                pending.append(segment)
                cut = next(cuts, -1)
                if cut != -1:
                    break
                if pending:
                    pending.clear()
                return
            pending.append(cut)
            cut = next(cuts, -1)
            if cut == -1:
                if pending:
                    pending.pop()
                return
    pending.append(None)


def tell(lines, log):
    for line in lines:
        while line:
            if line.startswith("#"):
                log.append(line)
                raise ValueError(line)
            line = line[1:]
    return log


def both(rows, log):
    for row in rows:
        while row:
            if row[0] is None:
                log.append(row)
                if len(row) > 1:
                    log.append(1)
                    return 1
                log.append(0)
                return 0
            row = row[1:]
        log.append(row)
    return log
