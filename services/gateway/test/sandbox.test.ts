import { expect, test } from '@jest/globals';
import { SESSION_COOKIE } from '../src/domain/session.ts';
import { openGateways, operatorsDb, signedFor } from './gateway-fixture.ts';
import { cheapPasswords, codeOf, ORIGIN, peopleOf } from './people-fixture.ts';

/** Payments with test money: there are some where the settings name a sandbox, and nowhere else. */

const { url, start, upstream } = await openGateways();
const PATH = '/api/sandbox/payments';
const payment = { asset: 'ETH', address: '0x1', amount: '0.1' };

async function aGateway(sandbox: string | undefined) {
  const { port } = await start({ SANDBOX_URL: sandbox as never }, { passwords: cheapPasswords });
  const people = peopleOf({ port, url, db: operatorsDb(url) });
  return { ...people, owner: await people.someone() };
}

test('a person who has signed in pays, and the gateway says so to the sandbox alone', async () => {
  const { by, owner } = await aGateway(upstream.url);
  expect((await by(owner.cookie, 'GET', '/api/me')).body).toMatchObject({ sandbox: true });
  expect((await by(owner.cookie, 'POST', PATH, payment)).status).toBe(200);
  expect(upstream.asked).toMatchObject([{ method: 'POST', path: PATH, body: JSON.stringify(payment) }]);
  const assertion = { identity: { account: owner.account, person: owner.id } };
  expect(upstream.asked.flatMap(signedFor)).toMatchObject([{ receiver: 'sandbox', assertion }]);
});

test('a page of another site, and who only reads, pay nothing', async () => {
  const { ask, someone, by, owner } = await aGateway(upstream.url);
  const cookie = `Cookie: ${SESSION_COOKIE}=${owner.cookie}`;
  for (const headers of [
    [cookie],
    [cookie, 'Origin: https://elsewhere.example'],
    [cookie, `Origin: ${ORIGIN}`, 'Sec-Fetch-Site: cross-site'],
  ])
    expect((await ask('POST', PATH, { body: payment, headers })).status).toBe(403);
  const viewer = await someone('viewer', owner.account);
  expect((await by(viewer.cookie, 'POST', PATH, payment)).status).toBe(403);
  expect((await ask('POST', PATH, { body: payment })).status).toBe(401);
  expect(upstream.asked).toEqual([]);
});

test('an installation that is no sandbox says so, and nothing there pays', async () => {
  const { by, owner } = await aGateway(undefined);
  expect((await by(owner.cookie, 'GET', '/api/me')).body).toMatchObject({ sandbox: false });
  const answer = await by(owner.cookie, 'POST', PATH, payment);
  expect([answer.status, codeOf(answer)]).toEqual([404, 'route_not_found']);
  expect(upstream.asked).toEqual([]);
});
