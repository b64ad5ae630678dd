import { describe, expect, it, test } from '@jest/globals';
import { csvLine } from '@quittance/shared/csv';
import { assertProperty } from '@quittance/testkit/assert-property';
import fc from 'fast-check';
import { readBatchFile } from './batch-csv.ts';

const HEADER = 'asset,amount,address';
const read = (text: string | Uint8Array) =>
  readBatchFile(typeof text === 'string' ? Buffer.from(text) : text);
const problemOf = (text: string | Uint8Array): string | undefined => {
  const file = read(text);
  return file.ok ? undefined : file.refusal['body']?.[0]?.message;
};

describe('readBatchFile', () => {
  it('reads cells with quotes, commas and line feeds, and counts the lines of the file', () => {
    const file = read(
      '\ufeffasset, amount ,address,external_id,metadata\r\n\r\n' +
        'ETH,1.5,0x1,"a ""b"",\nc","{""order"":""7""}"\r\nBTC,"2",bc1,=1+1,',
    );
    expect(file).toEqual({
      ok: true,
      value: [
        {
          line: 3,
          input: {
            ...{ asset: 'ETH', amount: '1.5', address: '0x1', external_id: 'a "b",\nc' },
            metadata: { order: '7' },
          },
        },
        {
          line: 5,
          input: { asset: 'BTC', amount: '2', address: 'bc1', external_id: '=1+1', metadata: '' },
        },
      ],
    });
  });

  test.each<[string, string | Uint8Array, string]>([
    ['an empty file', '', 'The file is empty.'],
    ['UTF-16', Buffer.from(`\ufeff${HEADER}`, 'utf16le'), 'The file is UTF-16, from line 1 on.'],
    [
      'a line of Latin-1',
      Buffer.concat([Buffer.from(`${HEADER}\nETH,1,0x1\n`), Buffer.from('ETH,1,\xe9', 'latin1')]),
      'Line 3 is not UTF-8.',
    ],
    ['an unknown column', 'asset,amount,adress', 'Line 1 names an unknown column: "adress".'],
    ['semicolons', 'asset;amount;address', 'Line 1 separates its columns by semicolons or tabs.'],
    ['tabs', 'Asset\tamount\taddress', 'Line 1 separates its columns by semicolons or tabs.'],
    ['one column', 'adress', 'Line 1 names an unknown column: "adress".'],
    ['a column twice', `${HEADER},asset`, 'Line 1 names the column asset twice.'],
    ['a missing column', 'asset,amount', 'Line 1 does not name the column address.'],
    ['a missing cell', `${HEADER}\nETH,1,0x1\nETH,1`, 'Line 3 has 2 cells, and the first line has 3.'],
    [
      'a quote that is not closed',
      `${HEADER}\nETH,1,"0x1\nETH`,
      'Line 2 opens a quote that is never closed.',
    ],
    ['a quote inside of a cell', `${HEADER}\nETH,1,0"x1"`, 'Line 2 has a quote inside of a cell.'],
    ['text after a quote', `${HEADER}\nETH,1,"0x\n1"2`, 'Line 3 goes on after the end of a cell.'],
    ['a carriage return alone', `${HEADER}\rETH,1,0x1`, 'Line 1 goes on after the end of a cell.'],
  ])('refuses %s and names the line', (_, text, message) => {
    expect(problemOf(text)).toBe(message);
  });

  it('reads back what is written with csvLine', async () => {
    const cell = fc
      .string({ unit: 'binary' })
      .filter((text) => !/^[=+\-@＝＋－＠\t\r\n\ufeff]/.test(text) && text.isWellFormed());
    await assertProperty(
      fc.property(fc.array(fc.tuple(cell, cell, cell), { minLength: 1, maxLength: 5 }), (rows) => {
        const file = read(`${HEADER}\n${rows.map((cells) => csvLine(cells)).join('')}`);
        const expected = rows.map(([asset, amount, address]) => ({ asset, amount, address }));
        expect(file.ok && file.value.map(({ input }) => input)).toEqual(expected);
      }),
    );
  });
});
