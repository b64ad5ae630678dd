import { service } from './service.ts';

service();
