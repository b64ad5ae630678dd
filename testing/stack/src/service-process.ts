import { createWriteStream, mkdirSync, type WriteStream } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Engine, type EngineOptions, startEngine } from '@quittance/engines/process';
import type { Service } from '@quittance/shared/events';
import { compiled } from './compiled-code.ts';

const ASK_WITHIN_MS = 2_000;
type Env = Readonly<Record<string, string>>;
type ProcessOptions = { logDir: string } & Pick<EngineOptions, 'onUnexpectedExit'>;

export type ServiceOptions = ProcessOptions & {
  service: Service;
  /** Undefined of a service that listens nowhere: who needs it asks until it answers. */
  port: number | undefined;
  env: Env;
  /** The checkout whose code it runs, asked before every start; this one when not given. */
  checkout?: () => URL;
};

const THIS_CHECKOUT = new URL('../../../', import.meta.url);

/** Starts one service, by itself as a process of its own, and returns when it is ready to serve. */
export async function startServiceProcess(options: ServiceOptions): Promise<Engine> {
  const { service, env, checkout = () => THIS_CHECKOUT } = options;
  return await startMain(options, {
    name: service,
    main: () => new URL(`services/${service}/src/main.ts`, checkout()),
    env: () => ({ NODE_COMPILE_CACHE: compiled(), ...env }),
    services: [options],
  });
}

export type TogetherOptions = ProcessOptions & {
  together: readonly Pick<ServiceOptions, 'service' | 'port' | 'env'>[];
};

/** Starts several services as one process, which ends as a whole, and returns when all are ready to serve. */
export async function startServicesTogether(options: TogetherOptions): Promise<Engine> {
  const { together } = options;
  const settings = () => Object.fromEntries(together.map(({ service, env }) => [service, env]));
  return await startMain(options, {
    name: 'services',
    main: () => new URL('./services-main.ts', import.meta.url),
    env: () => ({ NODE_COMPILE_CACHE: compiled(), SERVICES: JSON.stringify(settings()) }),
    services: together,
  });
}

type Main = {
  name: string;
  main: () => URL;
  env: () => Env;
  services: readonly Pick<ServiceOptions, 'service' | 'port'>[];
};

async function startMain(
  { logDir, onUnexpectedExit }: ProcessOptions,
  { name, main, env, services }: Main,
): Promise<Engine> {
  mkdirSync(logDir, { recursive: true });
  const logTo = (file: string) => createWriteStream(join(logDir, `${file}.log`), { flags: 'a' });
  // Each has its file from the start: whoever reads it need not ask whether a service has said something.
  const logs = new Map<string, WriteStream>(services.map(({ service }) => [service, logTo(service)]));
  /** Each line names its service; what does not is said by the process. */
  const logOf = (line: string): WriteStream => {
    const [, service = name] = /"service":"(\w+)"/.exec(line) ?? [];
    const log = logs.get(service) ?? logTo(service);
    logs.set(service, log);
    return log;
  };
  return await startEngine({
    name,
    command: () => ({ file: process.execPath, args: [fileURLToPath(main())], env: env() }),
    ask: async () => {
      for (const { port } of services) if (port !== undefined) await askWhetherReady(port);
    },
    stopSignal: 'SIGTERM',
    log: (line) => logOf(line).write(`${line}\n`),
    onUnexpectedExit,
  });
}

async function askWhetherReady(port: number): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${port}/readyz`, {
    signal: AbortSignal.timeout(ASK_WITHIN_MS),
  });
  const body = await response.text();
  if (!response.ok) throw new Error(`it is not ready: ${body}`);
}
