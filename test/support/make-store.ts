import { makeStore } from './store.ts';

await makeStore(process.argv[2] ?? '');
