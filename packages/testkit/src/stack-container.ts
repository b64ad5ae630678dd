import { GenericContainer, Wait } from 'testcontainers';

/** A container whose `start()` returns when it runs; whether it serves is asked by who started it. */
export class StackContainer extends GenericContainer {
  constructor(image: string, name: string) {
    super(image);
    this.withName(name).withWaitStrategy(Wait.forAll([]));
    // Nobody would read it, and a dozen containers that start a program of theirs every few seconds slow each other down.
    this.createOpts.Healthcheck = { Test: ['NONE'] };
  }

  /** Reached from this machine alone, and on a port that stays when it is started again. */
  publishedOnLoopback(inner: number, port: number): this {
    this.withExposedPorts({ container: inner, host: port });
    this.hostConfig.PortBindings = { [`${inner}/tcp`]: [{ HostIp: '127.0.0.1', HostPort: String(port) }] };
    return this;
  }

  /** As docker-compose.yml has what is built from this repository: it may write to none of its files, and become nobody. */
  hardened(): this {
    this.hostConfig.ReadonlyRootfs = true;
    return this.withDroppedCapabilities('ALL').withSecurityOpt('no-new-privileges:true');
  }
}
