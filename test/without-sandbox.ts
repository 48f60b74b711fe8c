/** The same results with and without bubblewrap on the machine. Tests of the sandbox ask for it. */
process.env.TINMAN_SANDBOX ??= "off";
