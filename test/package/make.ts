import { pack } from './pack.ts';

// Makes the package in the folder that is named, and prints the file's name.
const [, , folder = ''] = process.argv;
console.log(pack(folder));
