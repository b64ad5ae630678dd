import { expect, test } from '@jest/globals';
import { anEventOf } from '@quittance/testkit/builders';
import { isAnswerOfTheBus } from './messenger.ts';

const EVENT = JSON.stringify(anEventOf('credit.recorded', { deposit_id: 'dep_1', invoice_id: 'inv_1' }));

test.each<[what: string, body: string, headers: Record<string, string> | undefined, is: boolean]>([
  ['a status of the bus', '', { Status: '404' }, true],
  ['a receipt without a body', '', undefined, true],
  ['what the bus says of a durable', '{"type":"io.nats.jetstream.api.v1.consumer_info_response"}', {}, true],
  ['a receipt for a publication', '{"stream":"EVT", "seq":7}', undefined, true],
  ['a refusal of a publication', '{"error":{"code":400},"stream":"EVT","seq":0}', undefined, true],
  ['a value of a bucket', '{"id":"evt_1"}', { 'Nats-Stream': 'KV_quotes' }, true],
  ['an event for another receiver', EVENT, { 'Nats-Msg-Id': 'evt_1.0.webhooks' }, true],
  ['an event of a relay', EVENT, { 'Nats-Msg-Id': 'evt_1.0.invoices' }, false],
  ['an event without a name for doubles', EVENT, undefined, false],
  ['a poison message', 'not JSON', undefined, false],
])('tells %s from an event', (_what, body, headers, is) => {
  const given = headers && {
    get: (name: string) => headers[name] ?? '',
    has: (name: string) => Object.hasOwn(headers, name),
  };
  expect(isAnswerOfTheBus('invoices', { data: Buffer.from(body), headers: given })).toBe(is);
});
