/**
 * A cluster of a page that is still there after a reload: the entry `orchplane/indexed-db`.
 */
export { type IndexedDbJournalOptions, indexedDbJournal } from './journal.js';
