// libdai.cpp -- what bench/graph.c measures, by libDAI.  Not built here: libDAI is not part of Trellis.
//
//     build/bench/graph FOLDER
//     g++ -O3 -DNDEBUG -I LIBDAI/include -o dai bench/libdai.cpp LIBDAI/lib/libdai.a -lgmpxx -lgmp
//     ./dai bp FOLDER/grid100.fg FOLDER/factorial.fg FOLDER/skip.fg
//     ./dai exact FOLDER/factorial.fg FOLDER/grid14.fg FOLDER/ladder.fg
//
// bp: messages alone, and BP::run, which also compares all beliefs after every sweep.
// exact: JTREE, updates HUGIN, heuristic MINFILL: construction and run().
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <dai/bp.h>
#include <dai/jtree.h>

using namespace dai;

static double now()
{
    timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

static PropertySet options(const char *updates)
{
    PropertySet o;
    o.set("verbose", size_t(0));
    o.set("tol", 0.0);
    o.set("maxiter", size_t(1));
    o.set("logdomain", false);
    o.set("updates", std::string(updates));
    return o;
}

class messages : public BP {
  public:
    messages(const FactorGraph &g, const PropertySet &o) : BP(g, o) {}
    size_t count()
    {
        size_t n = 0;
        for (size_t i = 0; i < nrVars(); i++)
            n += nbV(i).size();
        return n;
    }
    void flood(size_t sweeps)
    {
        for (size_t s = 0; s < sweeps; s++) {
            for (size_t i = 0; i < nrVars(); i++)
                for (size_t k = 0; k < nbV(i).size(); k++)
                    calcNewMessage(i, k);
            for (size_t i = 0; i < nrVars(); i++)
                for (size_t k = 0; k < nbV(i).size(); k++)
                    updateMessage(i, k);
        }
    }
    void residual(size_t updates)
    {
        for (size_t i = 0; i < nrVars(); i++)
            for (size_t k = 0; k < nbV(i).size(); k++)
                calcNewMessage(i, k);
        for (size_t t = 0; t < updates; t++) {
            size_t i, k;
            findMaxResidual(i, k);
            updateMessage(i, k);
            for (size_t f = 0; f < nbV(i).size(); f++)
                if (f != k)
                    for (size_t j = 0; j < nbF(nbV(i, f)).size(); j++)
                        if (nbF(nbV(i, f), j) != i)
                            calcNewMessage(nbF(nbV(i, f), j), nbF(nbV(i, f), j).dual);
        }
    }
};

static double time_bp(const FactorGraph &g, bool flooding, size_t sweeps, size_t starts)
{
    messages m(g, options(flooding ? "PARALL" : "SEQMAX"));
    double seconds = 0;
    for (size_t k = 0; k < starts; k++) {
        m.init();
        const double start = now();
        if (flooding)
            m.flood(sweeps);
        else
            m.residual(sweeps * m.count());
        seconds += now() - start;
    }
    return seconds;
}

static double time_run(const FactorGraph &g, bool flooding, size_t sweeps, size_t starts)
{
    PropertySet o = options(flooding ? "PARALL" : "SEQMAX");
    o.set("maxiter", sweeps);
    BP b(g, o);
    double seconds = 0;
    for (size_t k = 0; k < starts; k++) {
        b.init();
        const double start = now();
        b.run();
        seconds += now() - start;
    }
    return seconds;
}

static void bp(const char *path)
{
    FactorGraph g;
    g.ReadFromFile(path);
    for (int flooding = 1; flooding >= 0; flooding--) {
        const size_t n = messages(g, options("PARALL")).count();
        const size_t sweeps = std::min(80000 / n, size_t(7)), starts = 80000 / (n * sweeps);
        double best = 1e9, whole = 1e9;
        for (int k = 0; k < 5; k++) {
            best = std::min(best, time_bp(g, flooding, sweeps, starts));
            whole = std::min(whole, time_run(g, flooding, sweeps, starts));
        }
        const double updates = double(n * sweeps * starts);
        printf("%s %s %zu messages %zu x %zu sweeps %.4f s %.3g updates/s, run() %.4f s %.3g "
               "updates/s\n",
               path, flooding ? "flooding" : "residual", n, starts, sweeps, best, updates / best,
               whole, updates / whole);
    }
}

static void exact(const char *path)
{
    FactorGraph g;
    g.ReadFromFile(path);
    PropertySet o;
    o.set("verbose", size_t(0));
    o.set("updates", std::string("HUGIN"));
    o.set("heuristic", std::string("MINFILL"));
    double plan = 1e9, best = 1e9, log_z = 0;
    for (int k = 0; k < 5; k++) {
        double start = now();
        JTree j(g, o);
        j.init();
        plan = std::min(plan, now() - start);
        start = now();
        j.run();
        best = std::min(best, now() - start);
        log_z = j.logZ();
    }
    printf("%s exact plan %.5f s run %.5f s log Z %.10g\n", path, plan, best, log_z);
}

int main(int argc, char **argv)
{
    for (int k = 2; k < argc; k++)
        if (strcmp(argv[1], "bp") == 0)
            bp(argv[k]);
        else
            exact(argv[k]);
    return 0;
}
