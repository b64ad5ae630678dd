import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';
import { inLine, printing, say } from './output.ts';
import { table } from './table.ts';

test.each([
  ['an escape', '\u001b[2J', '\\u001b[2J'],
  ['a clipboard write', '\u001b]52;c;QQ==\u0007', '\\u001b]52;c;QQ==\\u0007'],
  ['an escape in one byte', '\u009b31m', '\\u009b31m'],
  ['line ends', 'a\r\nb\u2028c\u2029d\u0085e', 'a\\u000d\\u000ab\\u2028c\\u2029d\\u0085e'],
  ['a tab and a backspace', 'a\tb\bc\u007f', 'a\\u0009b\\u0008c\\u007f'],
  ['a text turned round', '\u202egnp\u2066x\u200f\u061c', '\\u202egnp\\u2066x\\u200f\\u061c'],
  [
    'characters of no width',
    'a\u200b\u200c\u200d\u2060\ufeff\u00adb',
    'a\\u200b\\u200c\\u200d\\u2060\\ufeff\\u00adb',
  ],
  ['a tag, beyond the first plane', 'a\u{e0041}b', 'a\\udb40\\udc41b'],
  ['half a character', 'a\ud800b\udc00', 'a\\ud800b\\udc00'],
])('%s in a value is shown and not obeyed', (_what, value, shown) => {
  expect(inLine(value)).toBe(shown);
});

test('a value that can be read stays as it is', () => {
  for (const text of ['Größe 12 €', '東京の店', 'متجر', '🙂 – “quoted” \\ "x"'])
    expect(inLine(text)).toBe(text);
});

test('a template keeps its own lines and makes those of its values visible', () => {
  const inner = say`one ${'a\nb'}\n`;
  expect(say`first\n${[inner, inner]}${2}\n${inner}`.text).toBe(
    'first\none a\\u000ab\none a\\u000ab\n2\none a\\u000ab\n',
  );
});

test('a table is as wide as what is shown', () => {
  expect(table(['A', 'B'], [['\u001b', 'x\ny']]).text).toBe('A       B\n\\u001b  x\\u000ay\n');
});

test('printed JSON has nothing in it that a terminal obeys, and is the same JSON', () => {
  const value = { id: '\u001b]52;c;QQ==\u0007\u009b\u202e\u200b\u2028\u{e0041}\ud800 \r\n\u007f' };
  let printed = '';
  const streams = printing({ out: (text: string) => (printed += text), err: () => undefined });
  streams.out(`${JSON.stringify(value, null, 2)}\n`);
  expect(printed).toMatch(/^[\n\x20-\x7e]+$/);
  expect(JSON.parse(printed)).toEqual(value);
});

test('no command writes to the terminal but through what makes its text printable', () => {
  const folder = fileURLToPath(new URL('.', import.meta.url));
  const sources = readdirSync(folder).filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'));
  const writing = sources.filter((name) =>
    /process\s*\.\s*std|from 'node:(?:process|console|tty)'|writeSync|\/dev\/(?:tty|std)/.test(
      readFileSync(new URL(name, import.meta.url), 'utf8'),
    ),
  );
  // It hands the streams to run.ts, which wraps them before any command is given them.
  expect(writing).toEqual(['main.ts']);
  const unwrapped = sources.filter((name) =>
    /given\.(?:out|err)\(/.test(readFileSync(new URL(name, import.meta.url), 'utf8')),
  );
  expect(unwrapped).toEqual(['run.ts']);
});
