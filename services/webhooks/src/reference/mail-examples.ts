import type { Example } from '@quittance/shared/reference';
import { AT, exampleIds, LATER } from '@quittance/shared/reference-examples';
import type { z } from 'zod';
import type { mailRecipient } from './mail-recipients.ts';

const { mailRecipient: id } = exampleIds;

const unconfirmed: z.input<typeof mailRecipient> = {
  id,
  address: 'till@shop.example',
  kinds: ['paid_late', 'paid_short', 'payout_failed'],
  status: 'unconfirmed',
  paused_reason: null,
  code_expires_at: LATER,
  confirmed_at: null,
  last_sent_at: AT,
  last_failure: null,
  last_failed_at: null,
  created_at: AT,
};
const active: typeof unconfirmed = {
  ...unconfirmed,
  status: 'active',
  code_expires_at: null,
  confirmed_at: LATER,
};

const params = { id };
const said = (done: string, data: object) => ({ message: `Mail recipient ${done} successfully.`, data });

export const examples: Readonly<Record<string, Example>> = {
  listMailRecipients: {
    answer: {
      data: [active],
      meta: { sends_mail: true, writes_files: false, sender: 'payments@pay.example' },
    },
  },
  createMailRecipient: {
    body: { address: unconfirmed.address, kinds: unconfirmed.kinds },
    answer: said('created', { ...unconfirmed, code_expires_at: null, last_sent_at: null }),
  },
  getMailRecipient: { params, answer: active },
  updateMailRecipient: {
    params,
    body: { kinds: ['paid', 'payout_failed'] },
    answer: said('updated', { ...active, kinds: ['paid', 'payout_failed'] }),
  },
  deleteMailRecipient: { params, answer: { message: 'Mail recipient deleted successfully.' } },
  sendMailCode: { params, answer: said('code queued', unconfirmed) },
  confirmMailRecipient: {
    params,
    body: { code: '7K3M-Q0XA-2B9D' },
    answer: said('confirmed', active),
  },
  testMailRecipient: { params, answer: said('test queued', active) },
};
