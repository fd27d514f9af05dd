/**
 * The client for node: everything of the browser's, and a store in a folder.
 *
 * @packageDocumentation
 */
export * from "./all.js";
export { FileStore } from "./stores/file.js";
