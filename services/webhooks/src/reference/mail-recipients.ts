import { flag, id, message, oneOf, saidOf, text, textOf, time } from '@quittance/shared/answer-schemas';
import { documented, errorsOfResource, noFields, type Operation, viewed } from '@quittance/shared/reference';
import { z } from 'zod';
import { mailKinds } from '../domain/mail-notification.ts';
import { mailStatuses } from '../domain/mail-status.ts';
import { mailChangesForm, mailCodeForm, mailRecipientForm } from '../http/mail-recipients.ts';
import type { mailRecipientView } from '../views.ts';

const recipientId = id('mrc', 'The id of the recipient.');

export const mailRecipient = viewed<ReturnType<typeof mailRecipientView>>()(
  z
    .strictObject({
      id: recipientId,
      address: text('The e-mail address.'),
      kinds: z.array(textOf(mailKinds, 'A kind of e-mail.')).describe('What it is told of.'),
      status: oneOf(mailStatuses, 'It is told of events while it is `active`.'),
      paused_reason: text('Why nothing is sent to it, or null.').nullable(),
      code_expires_at: time('Until when the code counts that was sent last, or null.').nullable(),
      confirmed_at: time('When it was confirmed last, or null.').nullable(),
      last_sent_at: time('When the mail server took an e-mail to it last, or null.').nullable(),
      last_failure: text('Why an e-mail to it was not sent, or null.').nullable(),
      last_failed_at: time('When that was, or null.').nullable(),
      created_at: time('When it was added.'),
    })
    .meta({ id: 'MailRecipient', description: 'An address that is told by e-mail what happens.' }),
);

const params = z.strictObject({ id: recipientId });

const texts = {
  kinds:
    'What it is told of: `paid`, `paid_late`, `paid_short` (too small, or in another asset), `payout_failed`, `webhook_failing`. Default: all.',
};

const action = (
  operation: Pick<Operation, 'operationId' | 'path' | 'summary'>,
  description: string,
): Operation => ({
  ...operation,
  method: 'post',
  tag: 'E-mails',
  description,
  params,
  body: noFields,
  answers: { 202: { description: 'It is queued.', json: saidOf(mailRecipient) } },
  errors: [...errorsOfResource, 'conflict'],
});

export const operations: readonly Operation[] = [
  {
    method: 'get',
    path: '/api/mail-recipients',
    operationId: 'listMailRecipients',
    tag: 'E-mails',
    summary: 'List recipients',
    description: 'All of them, at most ten.',
    answers: {
      200: {
        description: 'The recipients.',
        json: z
          .strictObject({
            data: z.array(mailRecipient).describe('The recipients, the oldest first.'),
            meta: z
              .strictObject({
                sends_mail: flag('Whether this installation sends e-mail.'),
                writes_files: flag('Of a sandbox: e-mails are written to files, and sent to nobody.'),
                sender: text('The address that e-mails come from, or null.').nullable(),
              })
              .describe('About the installation.'),
          })
          .meta({ id: 'MailRecipientList', description: 'The recipients of an account.' }),
      },
    },
    errors: [],
  },
  {
    method: 'post',
    path: '/api/mail-recipients',
    operationId: 'createMailRecipient',
    tag: 'E-mails',
    summary: 'Add a recipient',
    description: 'It is sent a code, and is told of nothing until that is given back.',
    body: {
      fields: documented(mailRecipientForm.schema.shape, {
        address: 'The e-mail address.',
        ...texts,
      }),
      required: true,
    },
    answers: { 201: { description: 'The recipient.', json: saidOf(mailRecipient) } },
    errors: ['conflict'],
  },
  {
    method: 'get',
    path: '/api/mail-recipients/{id}',
    operationId: 'getMailRecipient',
    tag: 'E-mails',
    summary: 'Read a recipient',
    params,
    answers: { 200: { description: 'The recipient, as the body itself.', json: mailRecipient } },
    errors: errorsOfResource,
  },
  {
    method: 'patch',
    path: '/api/mail-recipients/{id}',
    operationId: 'updateMailRecipient',
    tag: 'E-mails',
    summary: 'Change what a recipient is told of',
    params,
    body: {
      fields: documented(mailChangesForm.schema.shape, { kinds: 'What it is told of from now on.' }),
      required: true,
    },
    answers: { 200: { description: 'The recipient.', json: saidOf(mailRecipient) } },
    errors: errorsOfResource,
  },
  {
    method: 'delete',
    path: '/api/mail-recipients/{id}',
    operationId: 'deleteMailRecipient',
    tag: 'E-mails',
    summary: 'Remove a recipient',
    params,
    answers: { 200: { description: 'It is removed.', json: z.strictObject({ message }) } },
    errors: errorsOfResource,
  },
  action(
    { operationId: 'sendMailCode', path: '/api/mail-recipients/{id}/code', summary: 'Send another code' },
    'To an address that is not `active`. At most one a minute, and five to an address in a day.',
  ),
  {
    method: 'post',
    path: '/api/mail-recipients/{id}/confirm',
    operationId: 'confirmMailRecipient',
    tag: 'E-mails',
    summary: 'Confirm a recipient',
    description: 'By the code that was sent to it. A code counts once, for a day and for five attempts.',
    params,
    body: {
      fields: documented(mailCodeForm.schema.shape, { code: 'The code of the newest e-mail.' }),
      required: true,
    },
    answers: { 200: { description: 'The recipient.', json: saidOf(mailRecipient) } },
    errors: errorsOfResource,
  },
  action(
    { operationId: 'testMailRecipient', path: '/api/mail-recipients/{id}/test', summary: 'Send a test' },
    'To an address that is `active`, at most one a minute.',
  ),
];
