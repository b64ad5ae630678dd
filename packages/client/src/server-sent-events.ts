import { ConnectionError } from './errors.ts';

/** A block of a stream of server-sent events: an event, or an id alone. */
export type Frame = { id: string | undefined; event: string; data: string | undefined };

/** No event is as large. */
const BLOCK_CHARACTERS_MAX = 16_000_000;

/**
 * The frames of a stream (WHATWG HTML, 9.2), with those that have an id and no event.
 * @param quietMs how long the stream may send nothing: it sends a comment every 15 seconds
 * @throws ConnectionError when it is quiet for longer, or breaks off. It ends when the stream does, or `signal` is aborted
 */
export async function* framesOf(
  stream: ReadableStream<Uint8Array>,
  quietMs: number,
  signal?: AbortSignal,
): AsyncGenerator<Frame, void, undefined> {
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  let text = '';
  try {
    for (;;) {
      const bytes = await readWithin(reader, quietMs, signal);
      if (bytes === undefined) return;
      text += decoder.decode(bytes, { stream: true });
      if (text.length > BLOCK_CHARACTERS_MAX)
        throw new ConnectionError('The stream of events has no end of an event.');
      // A line break may be CR LF, and its second half may not have arrived.
      const blocks = text.replaceAll(/\r\n|\r(?!$)/g, '\n').split('\n\n');
      text = blocks.pop() ?? '';
      for (const block of blocks) {
        const frame = frameOf(block);
        if (frame.id !== undefined || frame.data !== undefined) yield frame;
      }
    }
  } finally {
    // Of a stream that broke off this fails with what the reader was told already.
    await reader.cancel().catch(() => undefined);
  }
}

async function readWithin(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  quietMs: number,
  signal: AbortSignal | undefined,
): Promise<Uint8Array | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let stop = (): void => undefined;
  const ended = new Promise<undefined>((resolve, reject) => {
    stop = () => resolve(undefined);
    if (signal?.aborted === true) stop();
    signal?.addEventListener('abort', stop, { once: true });
    timer = setTimeout(
      () => reject(new ConnectionError(`The stream sent nothing for ${quietMs} ms.`)),
      quietMs,
    );
  });
  try {
    const read = reader.read().catch((cause: unknown) => {
      throw new ConnectionError('The stream of events broke off.', { cause });
    });
    return (await Promise.race([read, ended]))?.value;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', stop);
  }
}

function frameOf(block: string): Frame {
  const frame: Frame = { id: undefined, event: 'message', data: undefined };
  for (const line of block.split('\n')) {
    const [, field = '', value = ''] = /^([^:]*):? ?(.*)$/.exec(line) ?? [];
    if (field === 'id') frame.id = value;
    else if (field === 'event') frame.event = value;
    else if (field === 'data') frame.data = frame.data === undefined ? value : `${frame.data}\n${value}`;
  }
  return frame;
}
