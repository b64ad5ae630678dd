import { expect, test } from '@jest/globals';
import { readCsv } from './csv-records.ts';

test('a file is read with its quotes, its line ends and its empty lines', () => {
  const file = '\u{feff}asset,address\r\nETH,"a, ""b""\nc"\r\n\r\n"",x\nBTC,=1+1';
  expect(readCsv(file)).toEqual({
    records: [
      { line: 1, cells: ['asset', 'address'] },
      { line: 2, cells: ['ETH', 'a, "b"\nc'] },
      { line: 5, cells: ['', 'x'] },
      { line: 6, cells: ['BTC', '=1+1'] },
    ],
  });
  expect(readCsv('')).toEqual({ records: [] });
});

test('a file that is not clear is refused with its line', () => {
  expect(readCsv('a,b\nc,"d')).toEqual({ problem: 'Line 2 opens a quote that is never closed.' });
  expect(readCsv('a\nb"c')).toEqual({ problem: 'Line 2 has a quote inside of a cell.' });
  expect(readCsv('a\n"b\n"c')).toEqual({ problem: 'Line 3 goes on after the end of a cell.' });
  expect(readCsv('a\rb')).toEqual({ problem: 'Line 1 goes on after the end of a cell.' });
});
