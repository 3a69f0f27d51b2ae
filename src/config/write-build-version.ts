import { writeFileSync } from 'node:fs';
import { inPackage } from '../platform/package-root.ts';
import { BUILD_FILE, buildVersion } from './build-version.ts';

// Run by `npm run build`.
writeFileSync(inPackage(BUILD_FILE), `${buildVersion()}\n`);
