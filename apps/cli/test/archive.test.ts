import { statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { serviceUrl } from '@quittance/shared/migrate';
import { TEST_PASSWORD } from '@quittance/testkit/databases';
import { beginDump, dumpRecords } from '../src/backup/dump-records.ts';
import { withConnection } from '../src/backup/record-tables.ts';
import { archiveSuite, ENDPOINT_KEY, month, ODD } from './archive-fixture.ts';
import { quittanceIn } from './quittance-in.ts';

/** `quittance archive`: what is pruned leaves the database by files, month by month. */
const { folder, quittance, adminUrl, db, archive, happened, prune, archived, ...more } = await archiveSuite();
const { idsIn, idsWaiting, idsInLog, write, start, pruned } = more;

test('without `archive start`, what is pruned is deleted and no month waits', async () => {
  await happened('acc_1', month(5));
  await prune();
  expect([await idsInLog(), await idsWaiting()]).toEqual([[], []]);
  expect(await write()).toMatchObject({ code: 0, out: 'No month waits to be archived.\n' });
  expect(archived()).toEqual([]);
});

test('each month becomes a file with its events, deliveries and attempts, and leaves the database', async () => {
  await start();
  const younger = await happened('acc_2', month(5));
  const ids = [await happened('acc_1', month(6)), await happened('acc_1', month(6), '{"a" :\r\n 1.10}')];
  const recent = await happened('acc_1', month(0));
  await prune();
  expect(await idsInLog()).toEqual([recent]);

  const { code, out } = await write();
  expect(code).toBe(0);
  const files = archived();
  expect(files.map(({ name }) => name)).toEqual([
    expect.stringMatching(`^events-${month(6)}-[0-9a-f]{16}\\.jsonl\\.gz$`),
    expect.stringMatching(`^events-${month(5)}-[0-9a-f]{16}\\.jsonl\\.gz$`),
  ]);
  expect(files.map(({ lines }) => lines.map(({ id }) => id))).toEqual([ids, [younger]]);
  expect(files[0]?.lines[0]).toEqual({
    id: ids[0],
    event: 'invoice.paid',
    created_at: `${month(6)}-10T12:00:00.123+00:00`,
    account_id: 'acc_1',
    sequence: 1,
    resource_id: 'inv_1',
    version: 3,
    data: ODD,
    deliveries: [
      {
        webhook_id: 'we_acc_1',
        url: 'https://shop.example/hook',
        status: 'delivered',
        attempts: [
          expect.objectContaining({ number: 1, status: null, failure: 'timeout', answer: null }),
          expect.objectContaining({ number: 2, status: 200, failure: null, answer: 'thanks' }),
        ],
      },
    ],
  });
  expect(files[0]?.lines[1]?.data).toEqual({ a: 1.1 });
  expect(out).toMatch(new RegExp(`^MONTH +EVENTS +FILE\n${month(6)} +2 +.*gz\n${month(5)} +1 +.*gz\n$`));
  expect(statSync(join(archive(), files[0]?.name ?? '')).mode & 0o777).toBe(0o600);
  expect([await idsInLog(), await idsWaiting()]).toEqual([[recent], []]);
  const noted = `select actor, subject from gateway.audit_log where action = 'archive.written' order by seq desc limit 2`;
  expect(await db.rows(noted)).toEqual([
    {
      actor: expect.stringMatching(/^cli:/),
      subject: expect.stringMatching(`^${month(5)}, 1 events, sha256 `),
    },
    {
      actor: expect.stringMatching(/^cli:/),
      subject: expect.stringMatching(`^${month(6)}, 2 events, sha256 `),
    },
  ]);
  expect((await write()).out).toBe('No month waits to be archived.\n');
  expect(archived()).toEqual(files);
});

test('a month of which a delivery waits stays whole until it has ended', async () => {
  await start();
  const ended = await happened('acc_1', month(5));
  const open = await happened('acc_2', month(5));
  await db.rows(`update deliveries set state = 'waiting' where endpoint_key = $1`, [ENDPOINT_KEY.acc_2]);
  await prune();
  const refused = await write();
  expect(refused.code).toBe(0);
  expect(refused.out).toMatch(/ 1 +not yet: 1 more are in the log, 1 of them still to be delivered\n$/);
  expect([archived(), await idsWaiting(), await idsInLog()]).toEqual([[], [ended], [open]]);

  await db.rows(`update deliveries set state = 'delivered'`);
  await prune();
  expect((await write()).code).toBe(0);
  expect(archived()).toHaveLength(1);
  expect(idsIn()).toEqual([ended, open]);
});

test('with --before, that month and later ones stay, also the same month of another year', async () => {
  await start();
  const ids = [await happened('acc_1', month(17)), await happened('acc_1', month(5))];
  await prune();
  expect((await write('--before', month(5))).code).toBe(0);
  expect([idsIn(), await idsWaiting()]).toEqual([[ids[0]], [ids[1]]]);
  expect((await write('--before', '2026-13')).code).toBe(2);
  expect((await write()).code).toBe(0);
  expect(idsIn().toSorted()).toEqual(ids.toSorted());
});

test('events that are pruned after their month was archived get a file of their own', async () => {
  const [first] = await pruned('acc_1');
  await write();
  const before = archived();
  const late = await happened('acc_1', month(5));
  await prune();
  await write();
  expect(archived()).toEqual(expect.arrayContaining(before));
  expect(idsIn().toSorted()).toEqual([first, late]);
});

test('what waits is in a backup of the database', async () => {
  const [id = ''] = await pruned('acc_1');
  const text = await withConnection(adminUrl, async (client) => {
    let dumped = '';
    for await (const part of dumpRecords(client, await beginDump(client), () => undefined))
      dumped += part.toString();
    return dumped;
  });
  const copied = new RegExp(
    `^copy webhooks\\.pruned_events_${month(5).slice(-2)} .*\n\\d+\t.*"id" : "${id}"`,
    'm',
  );
  // The whole of it would be told otherwise.
  expect(copied.test(text)).toBe(true);
});

test('`archive stop` deletes what is pruned from then on, and what waits stays', async () => {
  const kept = await pruned('acc_1');
  expect((await quittance(['archive', 'start'])).out).toContain('already');
  expect((await quittance(['archive', 'stop'])).out).toContain('are deleted');
  await happened('acc_1', month(5));
  await prune();
  expect(await idsWaiting()).toEqual(kept);
  expect((await quittance(['archive', 'stop', '--json'])).json()).toEqual({ archiving: false, was: false });
});

test('the doctor warns of months that wait for longer than a monthly run leaves them', async () => {
  const asOperator = { OPERATOR_DATABASE_URL: serviceUrl(adminUrl, 'operator', TEST_PASSWORD) };
  const line = async () => {
    const { err, json } = await quittanceIn(folder, asOperator, ['doctor', '--json']);
    expect(err).toBe('');
    const { findings } = json() as { findings: { check: string; state: string; found: string }[] };
    return findings.filter(({ check }) => check === 'archive').map(({ state, found }) => [state, found]);
  };
  expect(await line()).toEqual([]);
  await start();
  expect(await line()).toEqual([['ok', 'no month waits']]);
  await happened('acc_1', month(5));
  await prune();
  expect(await line()).toEqual([['ok', `1 month waits, since ${month(5)}`]]);
  await happened('acc_2', month(8));
  await prune();
  expect(await line()).toEqual([['warning', `2 months wait, since ${month(8)}`]]);
});

test('an event is kept once, in its month and in one line', async () => {
  const insert = (of: string, day: string, line: string) =>
    db.rows(
      `insert into pruned_events (month_of_year, month, account_id, sequence, line) values ($1, $2, 'acc_1', 1, $3)`,
      [of, day, line],
    );
  await insert('8', '2026-08-01', '{}');
  await expect(insert('8', '2026-08-01', '{}')).rejects.toMatchObject({ code: '23505' });
  await expect(insert('9', '2026-08-01', '{}')).rejects.toMatchObject({ code: '23514' });
  await expect(insert('8', '2027-08-02', '{}')).rejects.toMatchObject({ code: '23514' });
  await expect(insert('7', '2026-07-01', '{\n}')).rejects.toMatchObject({ code: '23514' });
});
