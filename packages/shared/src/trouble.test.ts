import { Writable } from 'node:stream';
import { expect, test } from '@jest/globals';
import { createLogger } from './logger.ts';
import { trouble } from './trouble.ts';

/** A trouble, the lines it wrote, and the time, which stands still. */
function atHand() {
  const lines: object[] = [];
  const to = new Writable({
    write(text, _, done) {
      const { level, reason, times, unsaid, msg } = JSON.parse(String(text));
      lines.push({ level, reason, times, unsaid, msg });
      done();
    },
  });
  const time = { ms: 5 };
  const words = { level: 'warn', begins: 'it is bad', ends: 'it is good' } as const;
  return { lines, time, it: trouble(createLogger('test', 'info', to), words, () => time.ms) };
}

test('trouble is told when it begins, once a minute while it lasts, and when it is over', () => {
  const { lines, time, it } = atHand();
  for (let i = 0; i < 100; i++) it.met({ reason: `${i}` });
  expect(lines).toEqual([{ level: 'warn', reason: '0', msg: 'it is bad' }]);
  time.ms += 60_000;
  it.met({ reason: 'later' });
  it.met({ reason: 'later still' });
  expect(lines.slice(1)).toEqual([{ level: 'warn', reason: 'later', times: 100, msg: 'it is bad' }]);
  it.over();
  expect(lines.slice(2)).toEqual([{ level: 'info', unsaid: 1, msg: 'it is good' }]);
});

test('trouble that comes back is told at once, and where there was none there is nothing to tell', () => {
  const { lines, it } = atHand();
  it.over();
  expect(lines).toEqual([]);
  it.met({});
  it.over();
  it.over();
  it.met({ reason: 'again' });
  expect(lines).toEqual([
    { level: 'warn', msg: 'it is bad' },
    { level: 'info', msg: 'it is good' },
    { level: 'warn', reason: 'again', msg: 'it is bad' },
  ]);
});
