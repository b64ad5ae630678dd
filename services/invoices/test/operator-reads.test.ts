import { expect, it } from '@jest/globals';
import { api, asOperator } from '@quittance/testkit/api';
import { MINUTE, openFixture } from './fixture.ts';

/** What the console of operators sees of chains. */
const { fixture, blocks, withFresh } = await openFixture();

const PATH = '/api/operator/chains';
const read = async (of = fixture) => {
  const now = of.clock.now();
  const { status, body } = await asOperator(of.service.port, 'invoices', 'GET', PATH, { now });
  expect(status).toBe(200);
  return body;
};

it('sees how far each chain is, when it is late, and what is read again', async () => {
  await blocks(2);
  const [{ height }] = await fixture.rows('select height from cursors');
  const { chains, rescans } = await read();
  expect(rescans).toEqual([]);
  expect(chains).toEqual([
    {
      ...{
        chain: 'ethereum',
        height,
        node_height: null,
        nodes_left_out: null,
        problems: [],
        contradictions: 0,
      },
      ...{ block_at: expect.any(String), known_until: expect.any(String) },
      ...{ synced_at: fixture.clock.now().toISOString(), lag_seconds: 0, is_late: false },
    },
  ]);
  fixture.watchedChain.outageMs = MINUTE;
  fixture.pass(60 * MINUTE);
  expect((await read()).chains).toMatchObject([{ lag_seconds: 3_600, is_late: true }]);
  await fixture.rows(
    `insert into rescans (chain, from_height, next_height, asked_at) values ('ethereum', 1, 1, now())`,
  );
  expect((await read()).rescans).toMatchObject([{ chain: 'ethereum', from_height: 1, ended_at: null }]);
});

it('sees a chain that was never scanned, and why it gives out no address', async () => {
  await withFresh({ unconfirmed: true }, async (fresh) => {
    expect((await read(fresh)).chains).toEqual([
      expect.objectContaining({
        height: null,
        lag_seconds: null,
        is_late: true,
        problems: [expect.any(String)],
      }),
    ]);
  });
});

it('is not answered to a merchant', async () => {
  expect((await api(fixture.service.port, 'GET', PATH)).status).toBe(401);
  expect((await fixture.merchant().get(PATH)).status).toBe(401);
});
