import { expect, test } from '@jest/globals';
import type { AccountId, TokenId } from '@quittance/shared/ids';
import { createFailedRequests, type FailedRequest } from './failed-requests.ts';

const of = (account: string, id: number): FailedRequest => ({
  id: `req_${id}`,
  account: account as AccountId,
  at: new Date(0),
  method: 'GET',
  path: '/api/invoices',
  status: 404,
  code: 'not_found',
  actor: 'tok_1' as TokenId,
  address: null,
});

test('what is taken is gone', () => {
  const requests = createFailedRequests();
  requests.note(of('acc_1', 1));
  expect(requests.take()).toEqual([of('acc_1', 1)]);
  expect(requests.take()).toEqual([]);
});

test('of one account the newest hundred are kept, and keep no other account out', () => {
  const requests = createFailedRequests();
  for (let id = 0; id < 10_000; id++) requests.note(of('acc_loud', id));
  requests.note(of('acc_quiet', 1));
  const taken = requests.take();
  expect(taken.map(({ id }) => id)).toEqual([
    ...Array.from({ length: 100 }, (_, n) => `req_${9_900 + n}`),
    'req_1',
  ]);
});

test('of many accounts no more are kept than five thousand', () => {
  const requests = createFailedRequests();
  for (let id = 0; id < 10_000; id++) requests.note(of(`acc_${id}`, id));
  expect(requests.take()).toHaveLength(5_000);
  requests.note(of('acc_1', 1));
  expect(requests.take()).toHaveLength(1);
});
