/**
 * The entry point `orchplane/indexed-db`: keeps the cluster of a browser page across reloads.
 */
export { type IndexedDbJournalOptions, indexedDbJournal } from './journal.js';
