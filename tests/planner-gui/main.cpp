// Runs all tests with a QApplication, since pages are widgets.
#define CATCH_CONFIG_RUNNER
#include <QApplication>

#include "tests/catch.h"

int main(int argc, char** argv) {
    const QApplication application(argc, argv);
    return Catch::Session().run(argc, argv);
}
