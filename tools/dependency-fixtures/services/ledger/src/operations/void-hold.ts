import type { Service } from '../service.ts';

export const voidHold = (service: Pick<Service, 'db'>) => service.db;
