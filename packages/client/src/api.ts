import { type List, type PageMeta, pagedList } from './pages.ts';
import type { Call, RequestOptions, Transport } from './transport.ts';

type Options = RequestOptions | undefined;

/** The requests that the resources of the client are made of. Each names the way in which the API wraps its answer. */
export class Api {
  readonly transport: Transport;

  constructor(transport: Transport) {
    this.transport = transport;
  }

  /** A resource that is the body itself. */
  get<T>(path: string, options: Options, query?: object): Promise<T> {
    return this.transport.json<T>({ method: 'GET', path, query, options });
  }

  /** A resource in `data`. */
  getData<T>(path: string, options: Options, query?: object): Promise<T> {
    return this.transport.data<T>({ method: 'GET', path, query, options });
  }

  list<T>(path: string, query: object | undefined, options: Options): List<T, PageMeta> {
    return pagedList<T>(this.transport, path, query, options);
  }

  /** Creates something once for each Idempotency-Key. */
  create<T>(path: string, body: object, options: Options): Promise<T> {
    return this.transport.data<T>({ method: 'POST', path, body, takesKey: true, options });
  }

  /** Changes something, or acts on it. */
  send<T>(method: Call['method'], path: string, body: object | undefined, options: Options): Promise<T> {
    return this.transport.data<T>({ method, path, body, options });
  }

  /** Acts where the API says no more than that it was done. */
  async act(method: Call['method'], path: string, body: object, options: Options): Promise<void> {
    await this.transport.json({ method, path, body, options });
  }

  async delete(path: string, options: Options): Promise<void> {
    await this.transport.json({ method: 'DELETE', path, options });
  }

  csv(path: string, query: object | undefined, options: Options): Promise<ReadableStream<Uint8Array>> {
    const asked = { ...query, format: 'csv' };
    return this.transport.stream({ method: 'GET', path, query: asked, accept: 'text/csv', options });
  }
}
