import { form } from '@quittance/shared/form';
import {
  contextOf,
  readBody,
  takesNoParameters,
  takesNothing,
  unknownParameters,
} from '@quittance/shared/http';
import { type Answer, accessAnswers, answers, send } from '@quittance/shared/http-answers';
import type { Result } from '@quittance/shared/result';
import { type Field, issueOf, rules } from '@quittance/shared/validation';
import type { Express, RequestHandler, Response } from 'express';
import { isMailAddress, MAIL_ADDRESS_CHARACTERS_MAX } from '../domain/mail-address.ts';
import { mailKinds } from '../domain/mail-notification.ts';
import { CODES_STOPPED_DAYS } from '../domain/mail-schedule.ts';
import {
  addMailRecipient,
  CODES_PER_ACCOUNT,
  CODES_PER_ADDRESS,
  changeMailRecipient,
  confirmMailRecipient,
  deleteMailRecipient,
  MAIL_RECIPIENTS_MAX,
  readMailRecipient,
  sendMailCode,
  testMailRecipient,
} from '../operations/mail-recipients.ts';
import type { Ports } from '../ports.ts';
import { type MailRecipient, mailRecipientsOf } from '../store/mail-recipients.ts';
import { mailRecipientView } from '../views.ts';
import { ownerAndId } from './endpoints.ts';

const access = accessAnswers('MailRecipient');
const noMail = answers.conflict(
  'This installation sends no e-mail. Its operator has to set SMTP_URL and MAIL_FROM.',
);
const code = {
  no_mail: noMail,
  stopped: answers.conflict(
    `Whoever reads this address has stopped these e-mails: another code can be sent ${CODES_STOPPED_DAYS} days after that.`,
  ),
  too_soon: answers.conflict('A code was sent to this address less than a minute ago: wait a minute.'),
  too_many_codes: answers.conflict(
    `At most ${CODES_PER_ADDRESS} codes are sent to an address in a day, and ${CODES_PER_ACCOUNT} for an account: try again tomorrow.`,
  ),
};
const codeProblem = (message: string, hint: string): Answer => answers.invalid({ code: [{ message, hint }] });

const refusals = {
  add: {
    ...code,
    too_many: answers.invalid({
      address: [
        {
          message: `The mail recipients must not have more than ${MAIL_RECIPIENTS_MAX} items.`,
          hint: 'Remove one that is no longer used: DELETE /api/mail-recipients/{id}.',
        },
      ],
    }),
    taken: answers.invalid({
      address: [
        {
          message: 'The address has already been taken.',
          hint: 'Change what it receives: PATCH /api/mail-recipients/{id}.',
        },
      ],
    }),
  },
  code: { ...access, ...code, confirmed: answers.conflict('The address is confirmed already.') },
  confirm: {
    ...access,
    wrong_code: codeProblem('The code is wrong.', 'Give the code of the newest mail.'),
    no_code: codeProblem(
      'There is no code that can be given.',
      'A code counts once, for a day and for five attempts: ask for another one with POST /api/mail-recipients/{id}/code.',
    ),
  },
  test: {
    ...access,
    no_mail: noMail,
    too_soon: answers.conflict('A test was sent to this address less than a minute ago: wait a minute.'),
    inactive: answers.conflict('The address receives nothing now: confirm it first.'),
  },
} satisfies Record<string, Record<string, Answer>>;

/** Who is told by e-mail what happens in the account. */
export function routeMailRecipients(app: Express, merchant: RequestHandler, ports: Ports): void {
  const { mailer } = ports;
  /** Refuses a request for an unknown or another account's recipient, before its fields are checked. */
  const own: RequestHandler = async (req, res, next) => {
    const found = await readMailRecipient(ports, ...ownerAndId(req, res));
    if (found.ok) next();
    else send(res, access[found.refusal]);
  };
  const tell = <R extends string>(
    res: Response,
    result: Result<MailRecipient, R>,
    refused: Record<R, Answer>,
    { status = 200, done }: { status?: number; done: string },
  ): void => {
    const message = `Mail recipient ${done} successfully.`;
    if (result.ok) send(res, { status, body: { message, data: mailRecipientView(result.value) } });
    else send(res, refused[result.refusal]);
  };

  app.get('/api/mail-recipients', merchant, takesNoParameters, async (_req, res) => {
    const all = await mailRecipientsOf(ports.db, contextOf(res).identity.account);
    const meta = {
      sends_mail: mailer !== undefined,
      writes_files: mailer?.writesFiles ?? false,
      sender: mailer?.from.address ?? null,
    };
    send(res, { status: 200, body: { data: all.map(mailRecipientView), meta } });
  });

  app.post('/api/mail-recipients', merchant, takesNoParameters, ...readBody, async (_req, res) => {
    const { identity, body } = contextOf(res);
    const read = mailRecipientForm(body);
    if (!read.ok) return send(res, answers.invalid(read.refusal));
    const made = await addMailRecipient(ports, identity.account, read.value);
    tell(res, made, refusals.add, { status: 201, done: 'created' });
  });

  app.get('/api/mail-recipients/:id', merchant, async (req, res) => {
    const found = await readMailRecipient(ports, ...ownerAndId(req, res));
    if (!found.ok) return send(res, access[found.refusal]);
    send(res, unknownParameters(req) ?? { status: 200, body: mailRecipientView(found.value) });
  });

  app.patch('/api/mail-recipients/:id', merchant, ...readBody, own, takesNoParameters, async (req, res) => {
    const read = mailChangesForm(contextOf(res).body);
    if (!read.ok) return send(res, answers.invalid(read.refusal));
    const changed = await changeMailRecipient(ports, ...ownerAndId(req, res), read.value.kinds);
    tell(res, changed, access, { done: 'updated' });
  });

  app.delete('/api/mail-recipients/:id', merchant, own, takesNoParameters, async (req, res) => {
    const deleted = await deleteMailRecipient(ports, ...ownerAndId(req, res));
    if (!deleted.ok) return send(res, access[deleted.refusal]);
    send(res, { status: 200, body: { message: 'Mail recipient deleted successfully.' } });
  });

  app.post('/api/mail-recipients/:id/code', merchant, own, ...takesNothing, async (req, res) => {
    const queued = await sendMailCode(ports, ...ownerAndId(req, res));
    tell(res, queued, refusals.code, { status: 202, done: 'code queued' });
  });

  app.post(
    '/api/mail-recipients/:id/confirm',
    ...[merchant, ...readBody, own, takesNoParameters],
    async (req, res) => {
      const read = mailCodeForm(contextOf(res).body);
      if (!read.ok) return send(res, answers.invalid(read.refusal));
      const confirmed = await confirmMailRecipient(ports, ...ownerAndId(req, res), read.value.code);
      tell(res, confirmed, refusals.confirm, { done: 'confirmed' });
    },
  );

  app.post('/api/mail-recipients/:id/test', merchant, own, ...takesNothing, async (req, res) => {
    const queued = await testMailRecipient(ports, ...ownerAndId(req, res));
    tell(res, queued, refusals.test, { status: 202, done: 'test queued' });
  });
}

const addressField: Field<string> = (attribute) =>
  rules
    .text(MAIL_ADDRESS_CHARACTERS_MAX)
    .required(attribute)
    .superRefine((text, context) => {
      if (isMailAddress(text)) return;
      const hint = 'Give one address alone, such as till@shop.example.';
      context.addIssue(issueOf({ message: `The ${attribute} must be a valid email address.`, hint }));
    })
    .meta({ pattern: '^[^\\s@]+@[^\\s@]+$' });

/** Reads a new recipient. Without kinds it is told of all. */
export const mailRecipientForm = form({
  address: addressField,
  kinds: rules.listOf(mailKinds).or([...mailKinds]),
});

export const mailChangesForm = form({ kinds: rules.listOf(mailKinds).required });

const CODE_CHARACTERS_MAX = 40;
export const mailCodeForm = form({ code: rules.text(CODE_CHARACTERS_MAX).required });
