/** Where reports of backups come from: calls of a heartbeat, or what a tool reports itself. */
export const BACKUP_SOURCES = ['heartbeat', 'pgbackrest', 'barman', 'walg', 'mariabackup'] as const;

export type BackupSource = (typeof BACKUP_SOURCES)[number];
