/** A record of a CSV file, with the line of the file where it begins. */
export type CsvRecord = { line: number; cells: string[] };
export type ReadCsv = { records: CsvRecord[] } | { problem: string };

/** Reads a CSV file (RFC 4180) as the API does: cells are texts, empty lines are left out, what is not clear is refused. */
export function readCsv(text: string): ReadCsv {
  const records: CsvRecord[] = [];
  let [line, at] = [1, text.startsWith('\u{feff}') ? 1 : 0];
  while (at < text.length) {
    const record: CsvRecord = { line, cells: [] };
    for (let hasNext = true; hasNext; ) {
      const cell = readCell(text, at, line);
      if ('problem' in cell) return cell;
      record.cells.push(cell.text);
      line += cell.lineFeeds;
      at = cell.end;
      hasNext = text[at] === ',';
      if (hasNext) at += 1;
    }
    at += text.startsWith('\r\n', at) ? 2 : 1;
    line += 1;
    if (record.cells.length > 1 || record.cells[0] !== '') records.push(record);
  }
  return { records };
}

type Cell = { text: string; end: number; lineFeeds: number };

function readCell(text: string, from: number, line: number): Cell | { problem: string } {
  const isQuoted = text[from] === '"';
  const found = sticky(isQuoted ? /"(?:[^"]|"")*"/y : /[^,\r\n]*/y, text, from);
  if (found === undefined) return { problem: `Line ${line} opens a quote that is never closed.` };
  if (!isQuoted && found.includes('"')) return { problem: `Line ${line} has a quote inside of a cell.` };
  const cell = isQuoted ? found.slice(1, -1).replaceAll('""', '"') : found;
  const lineFeeds = found.split('\n').length - 1;
  const end = from + found.length;
  const next = text[end];
  const isEnd = next === undefined || next === ',' || next === '\n' || text.startsWith('\r\n', end);
  if (!isEnd) return { problem: `Line ${line + lineFeeds} goes on after the end of a cell.` };
  return { text: cell, end, lineFeeds };
}

function sticky(pattern: RegExp, text: string, from: number): string | undefined {
  pattern.lastIndex = from;
  return pattern.exec(text)?.[0];
}
