import { expect, it } from '@jest/globals';
import { compareWithList, inWords, type Listed, mutantsOf } from './mutants.ts';

const path = 'services/x/src/domain/a.ts';
const text = 'const a = 1;\nexport const isMore = (b: number) => b > a;\n';
const described = mutantsOf(path, text).map((mutant) => inWords(text, mutant));

it('a mutant is described by its line, the changed part and what stands there instead', () => {
  expect(described).toEqual([
    'const a = «1»; → 2',
    'const a = «1»; → 0',
    'export const isMore = (b: number) => b «>» a; → >=',
    'export const isMore = (b: number) => b «>» a; → <=',
  ]);
});

it('each survivor needs a line of the list, and a line without a survivor is named', () => {
  const listed: Listed[] = [
    { reason: 'equivalent', survivors: { [path]: ['one', 'gone'] } },
    { reason: 'left', survivors: { other: ['not run'] } },
  ];
  const found = new Map([[path, ['one', 'one', 'two']]]);
  expect(compareWithList(found, listed, [path])).toEqual({
    unlisted: [`${path}: one`, `${path}: two`],
    noLonger: [`${path}: gone`],
  });
});
