import { expect, test } from '@jest/globals';
import { BYTES_MAX, decodeFile, errorsByLine, readBatchFile } from './batch-file.ts';

const assets = [
  { symbol: 'BTC', decimals: 8, network_fee: '0.0001' },
  { symbol: 'ETH', decimals: 18, network_fee: '0.001' },
  { symbol: 'SOL', decimals: 9, network_fee: '0.00001' },
];
const ETH = '0x52908400098527886E0F7030069857D2E4169EE7';
const HEADER = 'asset,amount,address,external_id,metadata';
const linesOf = (...rows: string[]) => {
  const read = readBatchFile([HEADER, ...rows].join('\n'), assets);
  if ('problem' in read) throw new Error(read.problem);
  return read;
};
const problemsOf = (row: string) => linesOf(row).lines[0]?.problems;

test('each line is checked by itself, and the good ones are summed with their fees', () => {
  const { lines, totals } = linesOf(
    `ETH,0.1,${ETH},salary-1,"{""a"":""b""}"`,
    `ETH,0.20,${ETH},salary-2,`,
    'BTC,0.5,bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080,,',
    `ETH,1e5,${ETH},,`,
  );
  expect(lines.map(({ line, problems }) => [line, problems.length])).toEqual([
    [2, 0],
    [3, 0],
    [4, 0],
    [5, 1],
  ]);
  expect(totals).toEqual([
    { asset: 'BTC', count: 1, amount: '0.5', fee: '0.0001', total: '0.5001' },
    { asset: 'ETH', count: 2, amount: '0.3', fee: '0.002', total: '0.302' },
  ]);
});

test('a line says all that is wrong with it', () => {
  expect(problemsOf(`DOGE,1,${ETH},,`)).toEqual(['DOGE is no asset that can be paid now.']);
  expect(problemsOf(',,,,')).toEqual([
    'The asset is missing.',
    'The amount is missing.',
    'The address is missing.',
  ]);
  expect(problemsOf(`ETH,max,${ETH},,`)).toEqual(['The amount must be a number such as 0.5.']);
  expect(problemsOf(`ETH,0.0,${ETH},,`)).toEqual(['The amount must be more than 0.']);
  expect(problemsOf('SOL,0.0000000001,9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM,,')).toEqual([
    'The amount has more than 9 decimals.',
  ]);
  expect(problemsOf(`SOL,1,${ETH},,`)).toEqual(['The address is none of this network.']);
  expect(problemsOf(`ETH,1,${ETH},${'x'.repeat(256)},`)).toHaveLength(1);
  for (const wrong of ['[1]', '{', '"{""a"":1}"'])
    expect(problemsOf(`ETH,1,${ETH},,${wrong}`)).toEqual(['The metadata must be a JSON object of texts.']);
});

test('a line that repeats an earlier one is wrong, unless each has a reference of its own', () => {
  const [, second] = linesOf(`ETH,1,${ETH},,`, `ETH,1.0,${ETH},,`).lines;
  expect(second?.problems).toEqual(['The line repeats line 2. If both are meant, give each an external_id.']);
  expect(linesOf(`ETH,1,${ETH},a,`, `ETH,1,${ETH},b,`).lines.flatMap(({ problems }) => problems)).toEqual([]);
});

test('a file that is not clear is refused as a whole', () => {
  const problem = (text: string) => {
    const read = readBatchFile(text, assets);
    return 'problem' in read ? read.problem : undefined;
  };
  expect(problem('')).toBe('The file is empty.');
  expect(problem('asset;amount;address\nETH;1;x')).toContain('semicolons');
  expect(problem('asset,amount,adress\nETH,1,x')).toContain('unknown column: "adress"');
  expect(problem('asset,asset,amount,address\n')).toContain('asset twice');
  expect(problem('asset,amount\nETH,1')).toContain('does not name the column address');
  expect(problem(`${HEADER}\n`)).toContain('no payout');
  expect(problem(`${HEADER}\nETH,1,${ETH}`)).toContain('Line 2 has 3 cells, and the first line has 5');
  const row = (place: number) => `ETH,1,${ETH},${place},`;
  const rows = (count: number) => [HEADER, ...Array.from({ length: count }, (_, i) => row(i))].join('\n');
  expect(problem(rows(501))).toContain('501 payouts');
  expect(problem(rows(500))).toBeUndefined();
  expect(problem('x'.repeat(BYTES_MAX + 1))).toContain('64 kB');
});

test('errors of the API are found by their line', () => {
  const errors = { 'lines.5.address': ['wrong', 'no'], 'lines.5.amount': ['small'], mode: ['missing'] };
  expect(errorsByLine(errors)).toEqual(new Map([[5, ['wrong', 'no', 'small']]]));
});

test('a file in another encoding is refused, and a byte order mark is left out', () => {
  expect(decodeFile(Uint8Array.of(0xef, 0xbb, 0xbf, 0x61).buffer)).toEqual({ text: 'a' });
  expect(decodeFile(Uint8Array.of(0x61, 0xe9).buffer)).toEqual({
    problem: 'The file is not UTF-8: save it as CSV UTF-8.',
  });
});
