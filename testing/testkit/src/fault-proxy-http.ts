/**
 * Takes the pieces of HTTP requests as they come and hands over the JSON-RPC methods that each asks for, before its
 * last piece is sent on.
 */
export function requestReader(take: (methods: string[]) => void): (bytes: Buffer) => void {
  let waiting = Buffer.alloc(0);
  return (bytes) => {
    waiting = Buffer.concat([waiting, bytes]);
    for (;;) {
      const headEnd = waiting.indexOf('\r\n\r\n');
      if (headEnd === -1) return;
      const length = /^content-length: *(\d+)/im.exec(waiting.toString('latin1', 0, headEnd))?.[1] ?? '0';
      // eslint-disable-next-line no-restricted-syntax -- a length
      const end = headEnd + 4 + Number(length);
      if (waiting.length < end) return;
      take(methodsOf(waiting.toString('utf8', headEnd + 4, end)));
      waiting = waiting.subarray(end);
    }
  };
}

function methodsOf(body: string): string[] {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch {
    return [];
  }
  return [parsed].flat().flatMap((call) => {
    const method = (call as { method?: unknown } | null)?.method;
    return typeof method === 'string' ? [method] : [];
  });
}
