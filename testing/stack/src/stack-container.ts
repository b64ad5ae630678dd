import { randomBytes } from 'node:crypto';
import { GenericContainer, getContainerRuntimeClient, Wait } from 'testcontainers';

/** Each start has a name of its own: the one before may still be on its way out. */
export const newName = (what: string): string => `${what}-${randomBytes(4).toString('hex')}`;

/** A container whose `start()` returns when it runs; whether it serves is asked by who started it. */
export class StackContainer extends GenericContainer {
  constructor(image: string, name: string) {
    super(image);
    this.withName(name).withWaitStrategy(Wait.forAll([]));
    // Nobody would read it, and a dozen containers that start a program of theirs every few seconds slow each other down.
    this.createOpts.Healthcheck = { Test: ['NONE'] };
  }

  /**
   * Starts it. @returns its id, also where it ended at once: testcontainers saw no ports of it then, and waited for them
   * in vain, but its log says why.
   */
  async launched(): Promise<string> {
    let id: string | undefined;
    this.containerCreated = async (created) => {
      id = created;
    };
    try {
      return (await this.start()).getId();
    } catch (error) {
      if (id === undefined || !(await hasEnded(id))) throw error;
      return id;
    }
  }

  /** Reached from this machine alone, and on a port that stays when it is started again. */
  publishedOnLoopback(inner: number, port: number): this {
    this.withExposedPorts({ container: inner, host: port });
    this.hostConfig.PortBindings = { [`${inner}/tcp`]: [{ HostIp: '127.0.0.1', HostPort: String(port) }] };
    return this;
  }
}

async function hasEnded(id: string): Promise<boolean> {
  const { container } = await getContainerRuntimeClient();
  return (await container.getById(id).inspect()).State.Status === 'exited';
}
