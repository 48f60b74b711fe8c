// The least that a launcher with Landlock does: all of the disk can be read and run, argv[1] can be written. For sandbox.mjs.
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/landlock.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static int allow(int rules, const char *path, unsigned long long rights) {
  struct landlock_path_beneath_attr rule = {.allowed_access = rights, .parent_fd = open(path, O_PATH | O_CLOEXEC)};
  return rule.parent_fd < 0 ? -1 : syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
}

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  // The rights of Landlock's first version: 1 << 0 (run) to 1 << 12 (make links).
  const unsigned long long all = (1ULL << 13) - 1;
  const unsigned long long reading = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
  struct landlock_ruleset_attr attributes = {.handled_access_fs = all};
  int rules = syscall(SYS_landlock_create_ruleset, &attributes, sizeof(attributes.handled_access_fs), 0);
  if (rules < 0 || allow(rules, "/", reading) || allow(rules, argv[1], all) || allow(rules, "/dev", all) ||
      prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || syscall(SYS_landlock_restrict_self, rules, 0)) {
    perror("landlock");
    return 1;
  }
  execv(argv[2], argv + 2);
  perror(argv[2]);
  return 127;
}
