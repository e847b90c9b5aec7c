// The program retint of a release: all of it is in the library that Python's module uses, too.
#include "../../Sources/Retint/CLibrary/retint.h"

int main(void) {
    retint_main();
}
