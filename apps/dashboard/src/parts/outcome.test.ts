import { expect, test } from '@jest/globals';
import {
  ConflictError,
  ConnectionError,
  InvalidRequestError,
  NotFoundError,
  RateLimitError,
  ServerError,
  UnavailableError,
} from '@quittance/client';
import { isOutcomeUnknown, isRefused, toSend } from './outcome.ts';

test('what was carried out is not known without an answer, or after an internal error', () => {
  const unknown = [
    new ConnectionError('', { code: 'broken_off' }),
    new ConnectionError('', { code: 'timed_out' }),
    new ServerError('', { status: 500 }),
    new ConflictError('', { code: 'request_in_progress' }),
    new UnavailableError('', { status: 503 }),
  ];
  for (const error of unknown) {
    expect(isOutcomeUnknown(error)).toBe(true);
    expect(isRefused(error)).toBe(false);
  }
  const known = [
    new ConnectionError('', { code: 'not_connected' }),
    new UnavailableError('', { code: 'unavailable' }),
    new InvalidRequestError(''),
    new ConflictError('', { code: 'conflict' }),
  ];
  for (const error of known) expect(isOutcomeUnknown(error)).toBe(false);
});

test('a request keeps its key until it is refused for good', () => {
  for (const error of [new UnavailableError(''), new RateLimitError(''), new ConnectionError('')])
    expect(isRefused(error)).toBe(false);
  for (const error of [new InvalidRequestError(''), new NotFoundError(''), new ConflictError('')])
    expect(isRefused(error)).toBe(true);
});

test('another request has another key', () => {
  const newKey = () => 'new';
  const last = { request: { amount: '1' }, key: 'old' };
  expect(toSend(undefined, false, { amount: '1' }, newKey)).toEqual({ request: { amount: '1' }, key: 'new' });
  expect(toSend(last, false, { amount: '1' }, newKey)).toEqual(last);
  expect(toSend(last, false, { amount: '2' }, newKey)).toEqual({ request: { amount: '2' }, key: 'new' });
});

test('while it is not known what became of a request, no other one is sent', () => {
  const last = { request: { amount: '1' }, key: 'old' };
  expect(toSend(last, true, { amount: '2' }, () => 'new')).toEqual(last);
});
