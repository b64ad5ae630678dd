import { expect, test } from '@jest/globals';
import { assertProperty } from '@quittance/testkit/assert-property';
import fc from 'fast-check';
import { ConnectionError } from './errors.ts';
import { type Frame, framesOf } from './server-sent-events.ts';

const QUIET_MS = 5_000;

function streamOf(pieces: readonly Uint8Array[], ends = true): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      for (const piece of pieces) controller.enqueue(piece);
      if (ends) controller.close();
    },
  });
}

async function framesIn(pieces: readonly Uint8Array[]): Promise<Frame[]> {
  return await Array.fromAsync(framesOf(streamOf(pieces), QUIET_MS));
}

const text = new TextEncoder();
const sent = [
  'retry: 3000\nid: 4\n\n',
  ':\n\n',
  'id: 5\nevent: invoice.paid\ndata: {"note":"Grüße 😀",\ndata: "sequence":5}\n\n',
  ':\nid: 6\n\n',
  'data:{}\n\n',
  'id: 7\nevent: cut off\ndata: {"seq',
];
const frames: Frame[] = [
  { id: '4', event: 'message', data: undefined },
  { id: '5', event: 'invoice.paid', data: '{"note":"Grüße 😀",\n"sequence":5}' },
  { id: '6', event: 'message', data: undefined },
  { id: undefined, event: 'message', data: '{}' },
];

test('the frames are the same, wherever the stream is cut into pieces and whatever ends its lines', async () => {
  await assertProperty(
    fc.asyncProperty(
      fc.constantFrom('\n', '\r\n', '\r'),
      fc.array(fc.nat({ max: 250 }), { maxLength: 40 }),
      async (lineEnd, cuts) => {
        const bytes = text.encode(sent.join('').replaceAll('\n', lineEnd));
        const at = [0, ...cuts.toSorted((a, b) => a - b), bytes.length];
        const pieces = at.slice(1).map((end, i) => bytes.slice(at[i], end));
        expect(await framesIn(pieces)).toEqual(frames);
      },
    ),
  );
});

test('a stream that is quiet for too long is left', async () => {
  const reading = framesOf(streamOf([text.encode(sent[0])], false), 30);
  expect((await reading.next()).value).toEqual(frames[0]);
  await expect(reading.next()).rejects.toBeInstanceOf(ConnectionError);
});

test('a stream that breaks off is an error of the connection', async () => {
  const stream = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.error(new TypeError('terminated')),
  });
  await expect(framesOf(stream, QUIET_MS).next()).rejects.toBeInstanceOf(ConnectionError);
});

test('a reader that wants no more ends it and leaves the stream', async () => {
  const controller = new AbortController();
  let isLeft = false;
  const stream = new ReadableStream<Uint8Array>({
    cancel() {
      isLeft = true;
    },
  });
  const read = framesOf(stream, QUIET_MS, controller.signal).next();
  controller.abort();
  expect((await read).done).toBe(true);
  expect(isLeft).toBe(true);
});
