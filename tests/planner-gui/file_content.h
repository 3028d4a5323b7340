// The contents of a file.
#pragma once

#include <QFile>

#include "tests/catch.h"

namespace sluice::test {

inline QByteArray content(const QString& file) {
    QFile in(file);
    REQUIRE(in.open(QIODevice::ReadOnly));
    return in.readAll();
}

inline void write(const QString& file, const QByteArray& content) {
    QFile out(file);
    REQUIRE(out.open(QIODevice::WriteOnly));
    REQUIRE(out.write(content) == content.size());
}

}  // namespace sluice::test
