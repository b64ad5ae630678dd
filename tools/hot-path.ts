import { randomBytes } from 'node:crypto';
import { getHeapStatistics } from 'node:v8';
import { depositPosting } from '@quittance/ledger/domain/posting';
import { parseEvent } from '@quittance/shared/events';
import { parseExactJson } from '@quittance/shared/exact-json';
import { newGatewayKeys, readPublicKeys, readSigningKey } from '@quittance/shared/gateway-keys';
import { signIdentity, verifyIdentity } from '@quittance/shared/identity';
import { type AccountId, type DepositId, type EventId, newEventId } from '@quittance/shared/ids';
import { units } from '@quittance/shared/money';
import { invariant } from '@quittance/shared/result';
import { envelopeOf } from '@quittance/webhooks/domain/envelope';
import { newSecret, signatureHeaders, signingKey } from '@quittance/webhooks/endpoint-secrets';

/**
 * Prints how many bytes each step allocates that every request, event or webhook takes, as JSON. For a process whose new space holds
 * all of it, so that nothing is collected in between, and which interprets: what a compiler leaves out depends on when it ran.
 */
const WARM_UP = 200;
const TIMES = 500;

const keys = newGatewayKeys();
const [signing, verifying] = [readSigningKey(keys.privateKey), readPublicKeys(keys.publicKey)];
invariant(signing !== undefined && verifying !== undefined, 'new keys can be read');
const account = 'acc_0123456789' as AccountId;
const request = { receiver: 'payouts', method: 'POST', path: '/api/payouts' } as const;
const now = new Date();
const body = Buffer.from(
  '{"asset":"ETH","amount":0.125,"address":"0x00112233445566778899aabbccddeeff00112233"}',
);
const assertion = signIdentity(signing, { account }, { ...request, body }, now);
const secret = signingKey(newSecret(randomBytes));
const id = newEventId(now);
const logged = {
  id,
  kind: 'invoice.paid',
  createdAt: now,
  sequence: '1234',
  version: '3',
  data: body.toString(),
};
const deposit = { id: 'dep_1' as DepositId, account, asset: 'ETH', amount: units(10n ** 18n) } as const;
const settled = {
  id: id as EventId,
  kind: 'deposit.settled',
  created_at: now.toISOString(),
  request_id: 'req_1',
  payload: {
    ...{ deposit_id: 'dep_1', invoice_id: 'inv_1', account_id: account, asset: 'ETH' },
    ...{ address: '0xef', derivation_index: 3, tx_hash: '0xab', block_height: 7, block_hash: '0xcd' },
    ...{ amount: '1000000000000000000', outpoint: `0x${'ab'.repeat(32)}:0`, disposition: 'credit' },
  },
};

const steps = {
  'a request is signed by the gateway': () => signIdentity(signing, { account }, { ...request, body }, now),
  'a service verifies whose request it is': () => verifyIdentity(verifying, assertion, request, now),
  'the body of a payout is parsed': () => parseExactJson(body.toString()),
  'an event is parsed': () => parseEvent(settled),
  'a credit is made a posting': () => depositPosting(deposit, 'credit'),
  'a webhook is written and signed': () => signatureHeaders([secret], id, now, envelopeOf(logged)),
};

function bytesOf(step: () => unknown): number {
  for (let i = 0; i < WARM_UP; i++) step();
  const before = getHeapStatistics().used_heap_size;
  for (let i = 0; i < TIMES; i++) step();
  return Math.round((getHeapStatistics().used_heap_size - before) / TIMES);
}

const found = Object.fromEntries(Object.entries(steps).map(([name, step]) => [name, bytesOf(step)]));
process.stdout.write(JSON.stringify(found));
