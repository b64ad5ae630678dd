/** Of the answers of WebDriver BiDi, the W3C's protocol that browsers speak themselves. */
type Answer = { id?: number; type: string; method?: string; error?: string; message?: string };

export type Bidi = {
  /** @throws Error when the browser refuses it */
  send<T>(method: string, params?: object): Promise<T>;
  close(): void;
};

/** Connects to a browser. @param onEvent is told what the browser was asked to tell of */
export async function connectBidi(
  url: string,
  onEvent: (method: string, params: unknown) => void,
): Promise<Bidi> {
  const socket = new WebSocket(url);
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve);
    socket.addEventListener('error', () => reject(new Error(`${url} does not take a connection`)));
  });
  const waiting = new Map<number, { resolve(result: never): void; reject(error: Error): void }>();
  let last = 0;
  socket.addEventListener('message', ({ data }) => {
    const answer = JSON.parse(String(data)) as Answer & { params?: unknown; result?: never };
    if (answer.id === undefined) return onEvent(answer.method ?? '', answer.params);
    const { resolve, reject } = waiting.get(answer.id) ?? {};
    waiting.delete(answer.id);
    if (answer.type === 'error') reject?.(new Error(`${answer.error}: ${answer.message}`));
    else resolve?.(answer.result as never);
  });
  socket.addEventListener('close', () => {
    for (const { reject } of waiting.values()) reject(new Error('the browser has closed the connection'));
  });
  return {
    send: (method, params = {}) =>
      new Promise((resolve, reject) => {
        waiting.set(++last, { resolve, reject });
        socket.send(JSON.stringify({ id: last, method, params }));
      }),
    close: () => socket.close(),
  };
}
