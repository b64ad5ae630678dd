import {
  assetSymbol,
  count,
  decimal,
  flag,
  id,
  message,
  oneOf,
  pageOf,
  saidOf,
  text,
  time,
} from '@quittance/shared/answer-schemas';
import { chains } from '@quittance/shared/assets';
import { pageForm } from '@quittance/shared/pages';
import {
  documented,
  errorsOfResource,
  type Operation,
  pagedQuery,
  viewed,
} from '@quittance/shared/reference';
import { z } from 'zod';
import { APPROVALS_MAX } from '../domain/policy.ts';
import { readAddress } from '../http/payout-policy.ts';
import { readLimitsFields, readPolicyFields } from '../policy-order.ts';
import type { addressView, policyView } from '../policy-views.ts';

const limits = z
  .strictObject({
    asset: assetSymbol.describe('The asset.'),
    per_payout: decimal(
      'The most that one payout may be, without its network fee; null without a limit.',
    ).nullable(),
    per_24h: decimal(
      'The most that the payouts of any 24 hours may be together, without those that failed; null without a limit.',
    ).nullable(),
    approval_above: decimal('A payout of more waits for approvals; null when none does.').nullable(),
    approvals: z
      .int()
      .min(1)
      .max(APPROVALS_MAX)
      .nullable()
      .describe('How many other tokens must approve it, or null.'),
  })
  .meta({ id: 'PayoutLimits', description: 'What is allowed of payouts in one asset.' });

const rulesOf = {
  allow_list: flag('Whether payouts go to the address book alone. Refunds and returned funds go anywhere.'),
  delay_hours: count('How long a new address and a change that allows more wait.'),
  limits: z.array(limits).describe('One for each asset at most. Other assets have no limit.'),
};

export const policy = viewed<ReturnType<typeof policyView>>()(
  z
    .strictObject({
      type: z.literal('payout_policy').describe('Always `payout_policy`.'),
      ...rulesOf,
      next: z
        .strictObject({ ...rulesOf, takes_effect_at: time('When it takes the place of this one.') })
        .nullable()
        .describe('What takes its place later because it allows more, or null.'),
      updated_at: time('When it was last changed; null when there never was one.').nullable(),
    })
    .meta({ id: 'PayoutPolicy', description: 'What your account allows of its payouts.' }),
);

export const address = viewed<ReturnType<typeof addressView>>()(
  z
    .strictObject({
      id: id('adr', 'The id of the entry.'),
      type: z.literal('address').describe('Always `address`.'),
      chain: oneOf(chains, 'The network: all of its assets can be paid there.'),
      address: text('The recipient.'),
      label: text('Whose it is.'),
      created_at: time('When it was added.'),
      usable_at: time('From then on an allow-list lets payouts to it through.'),
    })
    .meta({ id: 'PayoutAddress', description: 'An entry of the address book.' }),
);

const limitFields = documented(readLimitsFields.schema.shape, {
  asset: 'The asset.',
  per_payout: 'The most that one payout may be.',
  per_24h: 'The most that the payouts of any 24 hours may be together.',
  approval_above: 'A payout of more waits for approvals. `0`: each does.',
  approvals: 'How many other tokens must approve it, 1 without this.',
});
const limitList = z.array(limitFields).optional();

export const operations: readonly Operation[] = [
  {
    method: 'get',
    path: '/api/payout-policy',
    operationId: 'getPayoutPolicy',
    tag: 'Payout policy',
    summary: 'Read the payout policy',
    answers: { 200: { description: 'The policy, as the body itself.', json: policy } },
    errors: [],
  },
  {
    method: 'put',
    path: '/api/payout-policy',
    operationId: 'putPayoutPolicy',
    tag: 'Payout policy',
    summary: 'Replace the payout policy',
    description:
      'What it forbids is forbidden at once. What it allows more than before is allowed after the delay, and shown in `next` until then.',
    body: {
      fields: documented(
        { ...readPolicyFields.schema.shape, limits: limitList },
        {
          allow_list: 'Whether payouts go to the address book alone.',
          delay_hours: 'How long a new address and a change that allows more wait.',
          limits: 'What is allowed of payouts in an asset. An asset that is not named has no limit.',
        },
      ),
      required: true,
    },
    answers: { 200: { description: 'The policy.', json: saidOf(policy) } },
    errors: [],
  },
  {
    method: 'get',
    path: '/api/address-book',
    operationId: 'listAddressBook',
    tag: 'Payout policy',
    summary: 'List the address book',
    description: 'Newest first.',
    query: pagedQuery(pageForm.schema.shape, {}),
    answers: { 200: { description: 'A page of addresses.', json: pageOf('PayoutAddressPage', address) } },
    errors: [],
  },
  {
    method: 'post',
    path: '/api/address-book',
    operationId: 'addAddress',
    tag: 'Payout policy',
    summary: 'Add an address',
    description: 'Giving an address again changes its label alone.',
    body: {
      fields: documented(readAddress.schema.shape, {
        chain: 'The network.',
        address: 'The recipient.',
        label: 'Whose it is.',
      }),
      required: true,
    },
    answers: {
      201: { description: 'It is added.', json: saidOf(address) },
      200: { description: 'It was there before.', json: saidOf(address) },
    },
    errors: ['conflict'],
  },
  {
    method: 'delete',
    path: '/api/address-book/{id}',
    operationId: 'deleteAddress',
    tag: 'Payout policy',
    summary: 'Delete an address',
    description: 'At once. Payouts that were created stay.',
    params: z.strictObject({ id: id('adr', 'The id of the entry.') }),
    answers: { 200: { description: 'It is deleted.', json: z.strictObject({ message }) } },
    errors: errorsOfResource,
  },
];
