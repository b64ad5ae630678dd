/** An amount as it stands in the JSON of a body. `means`: the one amount that it is, as plain text; null when it is refused. */
export type AmountForm = { written: string; means: string | null };

const refused = (...written: string[]): AmountForm[] => written.map((one) => ({ written: one, means: null }));

/** Amounts in every notation that another reader may take for another amount. */
export const amountForms: AmountForm[] = [
  // Numbers of JSON.
  { written: '1', means: '1' },
  { written: '0', means: '0' },
  { written: '-0', means: '0' },
  { written: '-0.0', means: '0' },
  { written: '0e9', means: '0' },
  { written: '0e-999', means: '0' },
  { written: '-1', means: '-1' },
  { written: '1.50', means: '1.5' },
  { written: '1e3', means: '1000' },
  { written: '1E3', means: '1000' },
  { written: '1e+3', means: '1000' },
  { written: '1e03', means: '1000' },
  { written: '1500e-3', means: '1.5' },
  { written: '-25e-1', means: '-2.5' },
  { written: '0.1e1', means: '1' },
  // Of these a double is another number.
  { written: '0.1000000000000000055511151231257827', means: '0.1000000000000000055511151231257827' },
  { written: '1.000000000000000001', means: '1.000000000000000001' },
  { written: '9007199254740993', means: '9007199254740993' },
  { written: '4.9e-324', means: null },
  { written: '1e-18', means: '0.000000000000000001' },
  { written: '1e77', means: `1${'0'.repeat(77)}` },
  { written: `1.${'0'.repeat(500)}`, means: '1' },
  { written: `1.${'0'.repeat(500)}1`, means: null },
  ...refused(
    '1e400',
    '-1e400',
    '1e-400',
    '1e308',
    '1e99999999999999999999',
    '1e-99999999999999999999',
    `1${'0'.repeat(300)}`,
  ),
  // What is no JSON, though readers of other languages take it for a number.
  ...refused('+1', '.5', '1.', '01', '-01', '00', '0x10', '0X10', '0b1', '0o7', '1_000', '1,5', '1,000'),
  ...refused('NaN', 'Infinity', '-Infinity', 'nan', 'inf', '1n', '1f', '1d', '--1', '-', '1e', '1e+', 'e1'),
  ...refused('１', '1\u00a0', '\u066114', "'1'", '1/2', '2^8', '1;2', '1 2', '(1)', 'undefined'),
  // Texts.
  { written: '"1"', means: '1' },
  { written: '"1.50"', means: '1.5' },
  { written: '"007"', means: '7' },
  { written: '"1e3"', means: '1000' },
  { written: '"-1"', means: '-1' },
  { written: '"-0"', means: '0' },
  { written: '"\\u0031"', means: '1' },
  // White space around a text is no part of it, as in every field.
  ...[' 1', '1 ', '1\\n', '\\t1', '\\ufeff1'].map((text) => ({ written: `"${text}"`, means: '1' })),
  ...refused('""', '" "', '"1\\u0000"', '"\\u00001"'),
  ...refused('"+1"', '".5"', '"1."', '"0x10"', '"0b1"', '"0o7"', '"1_000"', '"1,5"', '"1.000,50"', '"1,000"'),
  ...refused('"NaN"', '"Infinity"', '"-Infinity"', '"1n"', '"1f"', '"--1"', '"- 1"', '"1-"', '"−1"', '"1e"'),
  ...refused('"１"', '"1０"', '"①"', '"¹"', '"½"', '"٣"', '"৭"', '"Ⅷ"', '"一"', '"1\\u200b"', '"1\\u202e0"'),
  ...refused('"1e400"', '"1e-400"', `"1${'0'.repeat(300)}"`, '"$1"', '"1 ETH"', '"1%"', '"max "', '"1/2"'),
  // What is neither.
  ...refused(
    'null',
    'true',
    'false',
    '[]',
    '[1]',
    '["1"]',
    '[1,2]',
    '[[1]]',
    '{}',
    '{"amount":1}',
    '{"0":1}',
  ),
  ...refused('{"$numberDecimal":"1"}', '{"valueOf":1}', '{"source":"1"}', '{"__proto__":{"source":"1"}}'),
];

/** Fields of a body in which an amount stands twice, or beside where it belongs. None of them is read. */
export const doubledAmounts: string[] = [
  '{"amount":1,"amount":2}',
  '{"amount":1,"\\u0061mount":2}',
  '{"amount":1,"amount":1}',
  '{"amount":1}{"amount":2}',
  '{"amount":1},',
  '[{"amount":1}]',
  '"{\\"amount\\":1}"',
  '\ufeff{"amount":1}',
  '{"amount":1}\u0000',
  '{"amount":/**/1}',
  '{"amount":1,}',
  '{amount:1}',
  "{'amount':1}",
  'amount=1',
  '{"Amount":1}',
  '{"amount ":1}',
  '{"amount\\u0000":1}',
  '{"\\u0430mount":1}',
  '{"amount[]":1}',
  '{"__proto__":{"amount":1}}',
];
