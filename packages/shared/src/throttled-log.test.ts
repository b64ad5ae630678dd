import { Writable } from 'node:stream';
import { expect, test } from '@jest/globals';
import { createLogger, throttledLog } from './logger.ts';

/** A throttled log, the lines it wrote, and the time, which stands still. */
function atHand() {
  const lines: object[] = [];
  const to = new Writable({
    write(text, _, done) {
      const { level, reason, times, suppressed, msg } = JSON.parse(String(text));
      lines.push({ level, reason, times, suppressed, msg });
      done();
    },
  });
  const time = { ms: 5 };
  const log = throttledLog(createLogger('test', 'info', to), () => time.ms);
  return {
    lines,
    time,
    fail: (reason?: string, key = 'one') => log.log('warn', key, { reason }, 'it fails'),
    end: (key = 'one') => log.ended(key, {}, 'it works again'),
  };
}

test('logs a condition when it begins, once a minute while it lasts, and when it ends', () => {
  const { lines, time, fail, end } = atHand();
  for (let i = 0; i < 100; i++) fail(`${i}`);
  expect(lines).toEqual([{ level: 'warn', reason: '0', msg: 'it fails' }]);
  time.ms += 60_000;
  fail('later');
  fail('later still');
  expect(lines.slice(1)).toEqual([{ level: 'warn', reason: 'later', times: 100, msg: 'it fails' }]);
  end();
  expect(lines.slice(2)).toEqual([{ level: 'info', suppressed: 1, msg: 'it works again' }]);
});

test('logs a condition that comes back at once, and no end of what never began', () => {
  const { lines, fail, end } = atHand();
  end();
  expect(lines).toEqual([]);
  fail();
  end();
  end();
  fail('again');
  expect(lines).toEqual([
    { level: 'warn', msg: 'it fails' },
    { level: 'info', msg: 'it works again' },
    { level: 'warn', reason: 'again', msg: 'it fails' },
  ]);
});

test('logs each key by itself', () => {
  const { lines, fail, end } = atHand();
  fail('a');
  fail('b', 'other');
  end('other');
  fail('c');
  expect(lines).toEqual([
    { level: 'warn', reason: 'a', msg: 'it fails' },
    { level: 'warn', reason: 'b', msg: 'it fails' },
    { level: 'info', msg: 'it works again' },
  ]);
});
