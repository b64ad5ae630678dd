import { describe, expect, it } from '@jest/globals';
import { findFormerWords, formerWords } from './words.ts';

/** A glossary with invented words, so that this file has none of the real ones. */
const words = formerWords(`
## Terms
| term | meaning | text and names |
## Former words
| was called | is called | checked in |
|---|---|---|
| blip, blips | pulse | text and names |
| old boat | vessel | text |
| quirk | rule | names |
| grue | dark | no |
## Former public names
| zork | game | names |
`);
const found = (path: string, text: string) =>
  findFormerWords(path, text, words).map(({ line, word, term }) => `${line} ${word} → ${term}`);

it('reads the words of the second table that are to be looked for', () => {
  expect(words.map(({ word, place }) => `${word} (${place})`)).toEqual([
    'blip (text and names)',
    'blips (text and names)',
    'old boat (text)',
    'quirk (names)',
  ]);
});

describe('a former word is found', () => {
  it.each([
    ['in a document', 'docs/a.md', 'A pulse.\nTwo Blips.', '2 blips → pulse'],
    ['in a document, over the end of a line', 'docs/a.md', 'The old\nboat.', '1 old boat → vessel'],
    ['in a line comment', 'tools/a.ts', 'const a = 1; // a blip', '1 blip → pulse'],
    ['in a block comment', 'tools/a.ts', '/**\n * The blip.\n */\nexport const a = 1;', '2 blip → pulse'],
    ['in the title of a test', 'tools/a.test.ts', "it('sends a blip', () => {});", '1 blip → pulse'],
    [
      'in the title of a table of tests',
      'tools/a.test.ts',
      "test.each([1])('blip %d', f);",
      '1 blip → pulse',
    ],
    ['in a camel case name', 'tools/a.ts', 'const firstBlipSent = 1;', '1 blip → pulse'],
    ['in a property', 'tools/a.ts', 'const a = { next_quirk: 1 };', '1 quirk → rule'],
    ['in a type', 'tools/a.ts', 'type Quirk = string;', '1 quirk → rule'],
    ['in a path', 'tools/blip-sender.ts', '', '1 blip → pulse'],
    ['in a name of a program of JavaScript', 'tools/a.mjs', 'function blip() {}', '1 blip → pulse'],
    ['in a column', 'a/1.sql', 'select 1;\nselect blip_id from a;', '2 blip → pulse'],
    ['in a comment of SQL', 'a/1.sql', '-- the old boat\nselect 1;', '1 old boat → vessel'],
  ])('%s', (_where, path, text, expected) => {
    expect(found(path, text)).toEqual([expected]);
  });
});

it.each([
  ['code in a document', 'docs/a.md', 'The command `quittance blip`.\n\n```sh\nblip\n```\n'],
  ['the target of a link', 'docs/a.md', '[a pulse](blip.md)'],
  ['a word that has it as a part', 'docs/a.md', 'A blipper.'],
  ['an ordinary word that is wrong as a name only', 'docs/a.md', 'A quirk.'],
  ['a word that is wrong in text only', 'tools/a.ts', 'const oldBoat = 1;'],
  ['a string', 'tools/a.ts', "const a = 'blip';"],
  ['a string of SQL', 'a/1.sql', "select 'blip -- blip';"],
  ['a word without a check', 'docs/a.md', 'A grue.'],
  [
    'the tables of former words themselves',
    'docs/glossary.md',
    'A pulse.\n## Former words\n| blip | pulse | text |',
  ],
])('%s is not a finding', (_what, path, text) => {
  expect(found(path, text)).toEqual([]);
});
