/** What the build puts in: a name that changes with the sources, the same one for the same sources. */
declare const BUILD: string;
