import { contextOf, readBody } from '@quittance/shared/http';
import { type Answer, accessAnswers, answers, send } from '@quittance/shared/http-answers';
import { pageForm, pageOf, pageView } from '@quittance/shared/pages';
import { ok, type Result, refuse } from '@quittance/shared/result';
import { type Field, type FieldErrors, form, rules } from '@quittance/shared/validation';
import type { Express, RequestHandler } from 'express';
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
import type { HttpPorts } from '../ports.ts';
import { canBePublic, isHost } from '../public-address-guard.ts';
import { endpointView, eventView, newEndpointView, rotatedEndpointView } from '../views.ts';

const refusals = {
  endpoint: accessAnswers('Webhook'),
  test: {
    ...accessAnswers('Webhook'),
    disabled: answers.conflict('The webhook is disabled: enable it first.'),
  },
  registration: {
    too_many: answers.invalid({ url: [`The webhooks must not have more than ${ENDPOINTS_MAX} items.`] }),
  },
} satisfies Record<string, Record<string, Answer>>;

function refusedRotation(refusal: RotationRefusal): Answer {
  if (refusal.kind !== 'too_many') return refusals.endpoint[refusal.kind];
  const { until } = refusal;
  return answers.conflict(
    `There are ${VALID_SECRETS_MAX} good secrets, the most there may be. The next one ends at ${until.toISOString()}: wait until then, or give 0 as overlap_hours to end all former ones now.`,
  );
}

const changesOf = ({ events, ...others }: EndpointChanges): Changes =>
  events === undefined ? others : { ...others, eventTypes: events };

/** Refuses a request for an unknown or another account's endpoint, before its fields are checked. */
export const ownEndpoint =
  ({ db }: Pick<HttpPorts, 'db'>): RequestHandler =>
  async (req, res, next) => {
    const found = await readEndpoint({ db }, contextOf(res).identity.account, idOf(req.params));
    if (found.ok) next();
    else send(res, refusals.endpoint[found.refusal]);
  };

/** The endpoints of a merchant. */
export function routeEndpoints(app: Express, merchant: RequestHandler, ports: HttpPorts): void {
  const own = ownEndpoint(ports);

  app.get('/api/webhooks', merchant, async (req, res) => {
    const read = readPage(req.query);
    if (!read.ok) return send(res, answers.invalid(read.refusal));
    const { endpoints, total } = await listEndpoints(ports, contextOf(res).identity.account, read.value);
    const path = `${ports.settings.publicUrl}/api/webhooks`;
    const data = endpoints.map(endpointView);
    send(res, { status: 200, body: pageView({ data, total, ...read.value, path, query: req.query }) });
  });

  app.post('/api/webhooks', merchant, ...readBody, async (_req, res) => {
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
    const found = await readEndpoint(ports, contextOf(res).identity.account, idOf(req.params));
    if (!found.ok) return send(res, refusals.endpoint[found.refusal]);
    send(res, { status: 200, body: endpointView(found.value) });
  });

  app.patch('/api/webhooks/:id', merchant, ...readBody, own, async (req, res) => {
    const { identity, body } = contextOf(res);
    const read = readEndpointChanges(body, ports.settings.allowInsecureEndpoints);
    if (!read.ok) return send(res, answers.invalid(read.refusal));
    const changed = await changeEndpoint(ports, identity.account, idOf(req.params), changesOf(read.value));
    if (!changed.ok) return send(res, refusals.endpoint[changed.refusal]);
    const data = endpointView(changed.value);
    send(res, { status: 200, body: { message: 'Webhook updated successfully.', data } });
  });

  for (const [verb, enabled] of [
    ['enable', true],
    ['disable', false],
  ] as const) {
    app.post(`/api/webhooks/:id/${verb}`, merchant, async (req, res) => {
      const changed = await changeEndpoint(ports, contextOf(res).identity.account, idOf(req.params), {
        enabled,
      });
      if (!changed.ok) return send(res, refusals.endpoint[changed.refusal]);
      const data = endpointView(changed.value);
      send(res, { status: 200, body: { message: `Webhook ${verb}d successfully.`, data } });
    });
  }

  app.post('/api/webhooks/:id/rotate', merchant, ...readBody, own, async (req, res) => {
    const { identity, body } = contextOf(res);
    const read = readRotation(body);
    if (!read.ok) return send(res, answers.invalid(read.refusal));
    const rotated = await rotateSecret(ports, identity.account, idOf(req.params), read.value.overlap_hours);
    if (!rotated.ok) return send(res, refusedRotation(rotated.refusal));
    const data = rotatedEndpointView(rotated.value);
    send(res, { status: 200, body: { message: 'Webhook secret rotated successfully.', data } });
  });

  app.post('/api/webhooks/:id/test', merchant, async (req, res) => {
    const tested = await testEndpoint(ports, contextOf(res).identity.account, idOf(req.params));
    if (!tested.ok) return send(res, refusals.test[tested.refusal]);
    const data = { delivery_id: tested.value.deliveryId, event: eventView(tested.value.event) };
    send(res, { status: 202, body: { message: 'Webhook test queued successfully.', data } });
  });

  app.delete('/api/webhooks/:id', merchant, async (req, res) => {
    const deleted = await deleteEndpoint(ports, contextOf(res).identity.account, idOf(req.params));
    if (!deleted.ok) return send(res, refusals.endpoint[deleted.refusal]);
    send(res, { status: 200, body: { message: 'Webhook deleted successfully.' } });
  });
}

const URL_CHARACTERS_MAX = 2_048;
const DESCRIPTION_CHARACTERS_MAX = 255;
/** The longest time for which former secrets stay valid, and the default. */
const OVERLAP_HOURS_MAX = 24;

const endpointForm = form({
  url: rules.url(URL_CHARACTERS_MAX).required,
  events: rules.listOf(eventTypes).or(defaultEventTypes),
  description: rules.text(DESCRIPTION_CHARACTERS_MAX).optional,
});

type EndpointFields = { url: string; events: string[]; description: string | null };

/** Reads a new endpoint. Unless `allowInsecure`, its URL must be https and must not name a private address. */
export const readEndpointForm = (
  body: unknown,
  allowInsecure: boolean,
): Result<EndpointFields, FieldErrors> => withUrlProblem(endpointForm(body), body, allowInsecure);

const changeFields: Record<string, Field<unknown>> = {
  url: rules.url(URL_CHARACTERS_MAX).required,
  events: rules.listOf(eventTypes).required,
  description: rules.text(DESCRIPTION_CHARACTERS_MAX).optional,
  enabled: rules.boolean().required,
};

export type EndpointChanges = Partial<EndpointFields & { enabled: boolean }>;

/** Reads the changes of an endpoint. Fields that are not given stay. */
function readEndpointChanges(body: unknown, allowInsecure: boolean): Result<EndpointChanges, FieldErrors> {
  const isObject = typeof body === 'object' && body !== null && !Array.isArray(body);
  const named = Object.entries(changeFields).filter(([name]) => isObject && Object.hasOwn(body, name));
  const read = form(Object.fromEntries(named))(body);
  return withUrlProblem(read as Result<EndpointChanges, FieldErrors>, body, allowInsecure);
}

/** Adds a problem of the URL to those of the other fields. */
function withUrlProblem<T extends { url?: string }>(
  read: Result<T, FieldErrors>,
  body: unknown,
  allowInsecure: boolean,
): Result<T, FieldErrors> {
  const url = read.ok ? read.value.url : urlIn(body, read.refusal);
  const problem = url === undefined ? undefined : problemOf(url, allowInsecure);
  if (problem === undefined) return read;
  return refuse({ url: [problem], ...(read.ok ? {} : read.refusal) });
}

/** The URL of a body whose other fields were refused. */
function urlIn(body: unknown, refusal: FieldErrors): string | undefined {
  if (refusal['url'] !== undefined) return undefined;
  const { url } = body as { url?: string };
  return url?.trim();
}

function problemOf(text: string, allowInsecure: boolean): string | undefined {
  const url = new URL(text);
  // Lists would show the user name and password.
  if (url.username !== '' || url.password !== '') return 'The url must be a valid URL.';
  if (allowInsecure) return undefined;
  if (url.protocol !== 'https:') return 'The url must start with one of the following: https://.';
  if (!isHost(url.hostname)) return 'The url must be a valid URL.';
  return canBePublic(url.hostname) ? undefined : 'The url must not point to a private address.';
}

function readPage(query: Record<string, unknown>): Result<{ page: number; perPage: number }, FieldErrors> {
  const read = pageForm(query);
  return read.ok ? ok({ page: pageOf(query), perPage: read.value.perPage }) : read;
}

/** Reads for how many hours the former secrets stay valid. */
const readRotation = form({
  overlap_hours: rules.integer(0, OVERLAP_HOURS_MAX).or(OVERLAP_HOURS_MAX),
});

/** The form of our ids. Any other text is unknown, without a query. */
const idForm = /^[a-z]{3}_[0-9a-z]{1,128}$/;

/** The id in a path; empty, and so unknown, when it does not have the form of an id. */
export const idOf = ({ id }: Record<string, string | string[] | undefined>): string =>
  typeof id === 'string' && idForm.test(id) ? id : '';
