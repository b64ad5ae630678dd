import { expect, test } from '@jest/globals';
import { statementsOf } from '@quittance/testkit/count-statements';
import { recordedCounts } from '@quittance/testkit/recorded-counts';
import { anEvent, openFixture } from './fixture.ts';

const { receive, deliver, aShop, arrivedAt } = await openFixture();

test('an event and its delivery take as many statements as are recorded', async () => {
  const { account } = await aShop('/counted');
  await receive(anEvent({ account }));
  await deliver();
  const recorded = await statementsOf('webhooks', () => receive(anEvent({ account })));
  const delivered = await statementsOf('webhooks', async () => expect(await deliver()).toHaveLength(1));
  expect(arrivedAt('/counted')).toHaveLength(2);
  const today = { 'an event': recorded, 'its delivery': delivered };
  expect(today).toEqual(recordedCounts(new URL('statement-counts.json', import.meta.url), today));
});
