import type { OwnChecks } from '../../../../src/console-api/own-checks/own-check-schemas.ts';
import { read } from '../../api.ts';

export const ownChecksQuery = read<OwnChecks>('/own-checks');
