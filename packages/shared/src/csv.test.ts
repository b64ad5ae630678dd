import { expect, it } from '@jest/globals';
import { csvLine } from './csv.ts';

it.each(['=1+1', '+1', '-1', '@SUM(A1)', '\tx', '\rx', '\nx', '＝1+1', '＋1', '－1', '＠SUM(A1)'])(
  'csvLine puts an apostrophe before a text that a spreadsheet would run: %j',
  (text) => expect(csvLine([text]).replaceAll('"', '')).toBe(`'${text}\r\n`),
);

it.each([
  ['A;B', '"A;B"'],
  ['A\tB', '"A\tB"'],
  ['x;=1+1', `"x;'=1+1"`],
  ['x;=1;-2', `"x;'=1;'-2"`],
  ['x\t@SUM(A1)', `"x\t'@SUM(A1)"`],
  ['x\n=1+1', `"x\n'=1+1"`],
  ['x; =1+1', `"x; '=1+1"`],
])(
  'csvLine keeps a text in one cell, without formulas, also where cells end at semicolons and tabs: %j',
  (text, cell) => expect(csvLine([text])).toBe(`${cell}\r\n`),
);

it('csvLine leaves numbers as they are, quotes texts that need it, and leaves nothing empty', () => {
  expect(csvLine(['a "b", c', { number: '-1.50' }, null, 'a=b', 'two\nlines'])).toBe(
    '"a ""b"", c",-1.50,,a=b,"two\nlines"\r\n',
  );
});

it('csvLine refuses a number that is none', () => {
  expect(() => csvLine([{ number: '=1+1' }])).toThrow('plain decimal text');
});
