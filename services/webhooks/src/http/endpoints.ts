import { form } from '@quittance/shared/form';
import {
  contextOf,
  readBody,
  takesNoParameters,
  takesNothing,
  unknownParameters,
} from '@quittance/shared/http';
import { type Answer, accessAnswers, answers, send } from '@quittance/shared/http-answers';
import type { AccountId } from '@quittance/shared/ids';
import { pageForm, pageOf, pageView } from '@quittance/shared/pages';
import type { Result } from '@quittance/shared/result';
import {
  type Field,
  type FieldErrors,
  type FieldProblem,
  issueOf,
  messages,
  rules,
} from '@quittance/shared/validation';
import type { Express, Request, RequestHandler, Response } from 'express';
import { defaultEventTypes, eventTypes } from '../domain/event-types.ts';
import {
  type Changes,
  changeEndpoint,
  deleteEndpoint,
  ENDPOINTS_MAX,
  listEndpoints,
  readEndpoint,
  registerEndpoint,
  testEndpoint,
} from '../operations/endpoints.ts';
import { type RotationRefusal, rotateSecret, VALID_SECRETS_MAX } from '../operations/rotate-secret.ts';
import type { Ports } from '../ports.ts';
import { canBePublic, isHost } from '../public-address-guard.ts';
import { endpointView, eventView, newEndpointView, rotatedEndpointView } from '../views.ts';

const refusals = {
  endpoint: accessAnswers('Webhook'),
  test: {
    ...accessAnswers('Webhook'),
    disabled: answers.conflict('The webhook is disabled: enable it first.'),
  },
  registration: {
    too_many: answers.invalid({
      url: [
        {
          message: `The webhooks must not have more than ${ENDPOINTS_MAX} items.`,
          hint: 'Delete one that is no longer used: DELETE /api/webhooks/{id}.',
        },
      ],
    }),
  },
} satisfies Record<string, Record<string, Answer>>;

function refusedRotation(refusal: RotationRefusal): Answer {
  if (refusal.kind !== 'too_many') return refusals.endpoint[refusal.kind];
  const { until } = refusal;
  return answers.conflict(
    `There are ${VALID_SECRETS_MAX} good secrets, the most there may be. The next one ends at ${until.toISOString()}: wait until then, or give 0 as overlap_hours to end all former ones now.`,
  );
}

/** Refuses a request for an unknown or another account's endpoint, before its fields are checked. */
export const ownEndpoint =
  ({ db }: Pick<Ports, 'db'>): RequestHandler =>
  async (req, res, next) => {
    const found = await readEndpoint({ db }, ...ownerAndId(req, res));
    if (found.ok) next();
    else send(res, refusals.endpoint[found.refusal]);
  };

/** The endpoints of a merchant. */
export function routeEndpoints(app: Express, merchant: RequestHandler, ports: Ports): void {
  const own = ownEndpoint(ports);

  app.get('/api/webhooks', merchant, async (req, res) => {
    const read = pageForm(req.query);
    if (!read.ok) return send(res, answers.invalid(read.refusal));
    const place = { page: pageOf(req.query), perPage: read.value.perPage };
    const { endpoints, total } = await listEndpoints(ports, contextOf(res).identity.account, place);
    const path = `${ports.settings.publicUrl}/api/webhooks`;
    const data = endpoints.map(endpointView);
    send(res, { status: 200, body: pageView({ data, total, ...place, path, query: req.query }) });
  });

  app.post('/api/webhooks', merchant, takesNoParameters, ...readBody, async (_req, res) => {
    const { identity, body } = contextOf(res);
    const read = readEndpointForm(body, ports.settings.allowInsecureEndpoints);
    if (!read.ok) return send(res, answers.invalid(read.refusal));
    const { events, ...fields } = read.value;
    const made = await registerEndpoint(ports, { account: identity.account, eventTypes: events, ...fields });
    if (!made.ok) return send(res, refusals.registration[made.refusal]);
    const data = newEndpointView(made.value.endpoint, made.value.secret);
    send(res, { status: 201, body: { message: 'Webhook created successfully.', data } });
  });

  app.get('/api/webhooks/:id', merchant, async (req, res) => {
    const found = await readEndpoint(ports, ...ownerAndId(req, res));
    if (!found.ok) return send(res, refusals.endpoint[found.refusal]);
    send(res, unknownParameters(req) ?? { status: 200, body: endpointView(found.value) });
  });

  const change = async (req: Request, res: Response, changes: Changes, done: string): Promise<void> => {
    const changed = await changeEndpoint(ports, ...ownerAndId(req, res), changes);
    if (!changed.ok) return send(res, refusals.endpoint[changed.refusal]);
    const data = endpointView(changed.value);
    send(res, { status: 200, body: { message: `Webhook ${done} successfully.`, data } });
  };

  app.patch('/api/webhooks/:id', merchant, ...readBody, own, takesNoParameters, async (req, res) => {
    const read = readEndpointChanges(contextOf(res).body, ports.settings.allowInsecureEndpoints);
    if (!read.ok) return send(res, answers.invalid(read.refusal));
    const { events, ...others } = read.value;
    await change(req, res, events === undefined ? others : { ...others, eventTypes: events }, 'updated');
  });

  app.post('/api/webhooks/:id/enable', merchant, own, ...takesNothing, (req, res) =>
    change(req, res, { enabled: true }, 'enabled'),
  );

  app.post('/api/webhooks/:id/disable', merchant, own, ...takesNothing, (req, res) =>
    change(req, res, { enabled: false }, 'disabled'),
  );

  app.post('/api/webhooks/:id/rotate', merchant, ...readBody, own, takesNoParameters, async (req, res) => {
    const read = readRotation(contextOf(res).body);
    if (!read.ok) return send(res, answers.invalid(read.refusal));
    const rotated = await rotateSecret(ports, ...ownerAndId(req, res), read.value.overlap_hours);
    if (!rotated.ok) return send(res, refusedRotation(rotated.refusal));
    const { endpoint, secret, formerUntil } = rotated.value;
    const data = rotatedEndpointView(endpoint, secret, formerUntil);
    send(res, { status: 200, body: { message: 'Webhook secret rotated successfully.', data } });
  });

  app.post('/api/webhooks/:id/test', merchant, own, ...takesNothing, async (req, res) => {
    const tested = await testEndpoint(ports, ...ownerAndId(req, res));
    if (!tested.ok) return send(res, refusals.test[tested.refusal]);
    const data = { delivery_id: tested.value.deliveryId, event: eventView(tested.value.event) };
    send(res, { status: 202, body: { message: 'Webhook test queued successfully.', data } });
  });

  app.delete('/api/webhooks/:id', merchant, own, takesNoParameters, async (req, res) => {
    const deleted = await deleteEndpoint(ports, ...ownerAndId(req, res));
    if (!deleted.ok) return send(res, refusals.endpoint[deleted.refusal]);
    send(res, { status: 200, body: { message: 'Webhook deleted successfully.' } });
  });
}

const URL_CHARACTERS_MAX = 2_048;
const DESCRIPTION_CHARACTERS_MAX = 255;
/** The longest time for which former secrets stay valid, and the default. */
const OVERLAP_HOURS_MAX = 24;

/** Unless `allowInsecure`, the URL must be https and must not name a private address. */
const urlField =
  (allowInsecure: boolean): Field<string> =>
  (attribute) =>
    rules
      .url(URL_CHARACTERS_MAX)
      .required(attribute)
      .superRefine((text, context) => {
        const problem = problemOf(text, allowInsecure);
        if (problem !== undefined) context.addIssue(issueOf(problem));
      })
      .meta({ pattern: '^https://' });

export const endpointFields = (allowInsecure: boolean) => ({
  url: urlField(allowInsecure),
  events: rules.listOf(eventTypes).or(defaultEventTypes),
  description: rules.text(DESCRIPTION_CHARACTERS_MAX).optional,
});

/** Reads a new endpoint. */
export const readEndpointForm = (body: unknown, allowInsecure: boolean) =>
  form(endpointFields(allowInsecure))(body);

/** Each may be left out. */
export const changedFields = (allowInsecure: boolean) => ({
  ...endpointFields(allowInsecure),
  events: rules.listOf(eventTypes).required,
  enabled: rules.boolean().required,
});

type EndpointChanges = { url?: string; events?: string[]; description?: string | null; enabled?: boolean };

/** Reads the changes of an endpoint. Fields that are not given stay. */
function readEndpointChanges(body: unknown, allowInsecure: boolean): Result<EndpointChanges, FieldErrors> {
  const fields: Record<string, Field<unknown>> = changedFields(allowInsecure);
  const given = Object.entries(fields).filter(([name]) => Object.hasOwn(Object(body), name));
  return form(Object.fromEntries(given), { alsoKnown: Object.keys(fields) })(body);
}

function problemOf(text: string, allowInsecure: boolean): FieldProblem | undefined {
  const url = new URL(text);
  if (url.username !== '' || url.password !== '') {
    // Lists would show the user name and password.
    const hint = 'Leave out the user name and password: deliveries are signed, see docs/webhooks.md.';
    return { ...messages.url('url'), hint };
  }
  if (allowInsecure) return undefined;
  if (url.protocol !== 'https:') {
    const message = 'The url must start with one of the following: https://.';
    return { message, hint: 'Give an https:// URL: webhooks are sent encrypted only.' };
  }
  if (!isHost(url.hostname)) return messages.url('url');
  if (canBePublic(url.hostname)) return undefined;
  return {
    message: 'The url must not point to a private address.',
    hint: 'Give a URL that can be reached from the internet. For tests on one machine there is the sandbox.',
  };
}

/** Reads for how many hours the former secrets stay valid. */
export const readRotation = form({
  overlap_hours: rules.integer(0, OVERLAP_HOURS_MAX).or(OVERLAP_HOURS_MAX),
});

/** The form of our ids. Any other text is unknown, without a query. */
const idForm = /^[a-z]{3}_[0-9a-z]{1,128}$/;

/** The account of a request, and the id in its path, which is empty, and so unknown, without the form of an id. */
export const ownerAndId = ({ params: { id } }: Request, res: Response): [AccountId, string] => [
  contextOf(res).identity.account,
  typeof id === 'string' && idForm.test(id) ? id : '',
];
