import { afterAll, expect, test } from '@jest/globals';
import { testDatabase } from '@quittance/testkit/engines';
import { eventually } from '@quittance/testkit/eventually';
import { aheadMs, watchClock } from '../src/clock-watch.ts';
import { openDb } from '../src/db.ts';
import { createLogger } from '../src/logger.ts';

/** What a process says when its machine's clock is not the database's. */
const database = await testDatabase();
const silent = createLogger('test', 'silent');
const db = openDb({ url: database.urlOf('ledger'), schema: 'ledger', pool: 1, logger: silent });
afterAll(async () => {
  await db.close();
  await database.drop();
});

test('a clock that is ten seconds off is told once with what to do, and once when it is right again', async () => {
  const lines: string[] = [];
  const logger = createLogger('ledger', 'info', { write: (line) => void lines.push(line) });
  let [offMs, asked] = [10_000, 0];
  const now = () => {
    asked += 1;
    return new Date(Date.now() + offMs);
  };
  const watch = watchClock({ db, clock: { now }, logger }, 10);
  const untilSaid = (many: number) => eventually(() => expect(lines).toHaveLength(many));
  await untilSaid(1);
  const before = asked;
  await eventually(() => expect(asked).toBeGreaterThan(before + 6));
  offMs = 0;
  await untilSaid(2);
  offMs = -10_000;
  await untilSaid(3);
  await watch.stop();
  const told = lines.map((line) => JSON.parse(line) as { level: string; msg: string });
  expect(told.map(({ level, msg }) => `${level} ${msg.replace(/\b9\.\d s/, '10.0 s')}`)).toEqual([
    'error the clock of this machine is 10.0 s ahead of the database’s: set both by NTP',
    'info the clock of this machine is as the database’s again',
    'error the clock of this machine is 10.0 s behind the database’s: set both by NTP',
  ]);
});

test('a clock that was looked at while the question lasted is not off', () => {
  const at = (ms: number) => new Date(1_000_000 + ms);
  const asked = { before: at(0), after: at(500) };
  expect([-300, 0, 500, 800].map((ms) => aheadMs({ time: at(ms), ...asked }))).toEqual([300, 0, 0, -300]);
});
