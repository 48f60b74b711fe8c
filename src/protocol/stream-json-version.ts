/** In its own file, so that runs that only write lines don't load the schemas. */
export const streamJsonVersion = "1.0";
