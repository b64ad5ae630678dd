import { expect, it } from '@jest/globals';
import { eventually } from '@quittance/testkit/eventually';
import { watchStalled } from '../src/operations/watch-stalled.ts';
import type { PayoutsService } from '../src/service.ts';
import { order, type RequestsFixture, requestsSuite } from './service-fixture.ts';

/** The node is down, so no payout makes progress. */
let fixture: RequestsFixture;
requestsSuite((started) => {
  fixture = started;
});

const readiness = async ({ port }: PayoutsService) => {
  const answer = await fetch(`http://127.0.0.1:${port}/readyz`);
  return { status: answer.status, body: await answer.json() };
};
const stalled = async ({ port }: PayoutsService) =>
  /^quittance_payouts_stalled\{chain="ethereum"\} (\d+)$/m.exec(
    await (await fetch(`http://127.0.0.1:${port}/metrics`)).text(),
  )?.[1];
const ready = { status: 200, body: { ready: true, waits_for: [] } };

it('a payout without progress shows in /readyz and in a metric until it ends', async () => {
  const { body } = await fixture.shop.post(order);
  const pendingFor = (minutes: number) =>
    fixture.db.rows(`update payouts set created_at = now() - $1::int * interval '1 minute'`, [minutes]);

  await pendingFor(29);
  await watchStalled(fixture.service.ports);
  expect(await stalled(fixture.service)).toBe('0');
  expect(await readiness(fixture.service)).toEqual(ready);

  await pendingFor(31);
  const service = await fixture.start({}, { workers: true });
  const without = [expect.stringMatching(/^progress of 1 payouts on ethereum, the oldest of /)];
  await eventually(async () =>
    expect(await readiness(service)).toMatchObject({ status: 200, body: { ready: true, without } }),
  );
  expect(await stalled(service)).toBe('1');

  await fixture.db.rows(`update payouts set status = 'failed', failed_reason = 'no' where id = $1`, [
    body.data.id,
  ]);
  await eventually(async () => {
    await watchStalled(service.ports);
    expect(await readiness(service)).toEqual(ready);
  });
});
